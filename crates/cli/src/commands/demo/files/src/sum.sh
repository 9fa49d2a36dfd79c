add() {
    echo $(($1 + $2)) 
}

twice() {
    add "$1" "$1"	
}
