//! The commands that make a new workspace ready, before its agent starts.
//!
//! They run under a keeper like everything that runs in a workspace, because what
//! they start may be what another child wrote.

use std::time::Duration;

use legation_core::Code;
use legation_core::agent::Definition;
use legation_runners::workspace::Place;

use super::Inner;
use super::attempt::Obstacle;
use super::live::Live;
use super::verify::Owner;

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(600);

impl Inner {
    /// Makes a workspace ready, unless what the commands make is there from before.
    pub(super) async fn set_up(
        &self,
        owner: Owner<'_>,
        place: &Place,
        definition: &Definition,
        live: &Live,
    ) -> Result<(), Obstacle> {
        let commands = self.home().config.workspace.setup.clone();
        if commands.is_empty() {
            return Ok(());
        }
        let failed = |why| Obstacle::new(Code::WorkspaceFailed, why);
        let (at, wanted) = (place.clone(), commands.clone());
        let known = self.on_spaces(move |spaces| spaces.recall(&at, &wanted)).await;
        if known.map_err(failed)? {
            return Ok(());
        }
        for (number, line) in commands.iter().enumerate() {
            let name = format!("setup-{}", number + 1);
            let code = self.within_limit(owner, place, (definition, &name, line), live).await;
            if code != Some(0) {
                let ended = code.map_or("did not end in order".into(), |code| {
                    format!("ended with code {code}")
                });
                let log = self.folder(owner.attempt).join(format!("{}{name}", owner.stage));
                let why =
                    format!("The set-up command `{line}` {ended}; what it said is in {log:?}.");
                return Err(failed(why));
            }
        }
        let at = place.clone();
        let noted = self.on_spaces(move |spaces| spaces.remember(&at, &commands)).await;
        noted.map_err(failed)
    }

    async fn within_limit(
        &self,
        owner: Owner<'_>,
        place: &Place,
        (definition, name, line): (&Definition, &str, &str),
        live: &Live,
    ) -> Option<i32> {
        let run = self.run(owner, place, (definition, name, line), live);
        tokio::pin!(run);
        tokio::select! {
            code = &mut run => code,
            () = tokio::time::sleep(LIMIT) => {
                if let Some((_, remote)) = &*live.remote() {
                    remote.stop();
                }
                run.await;
                None
            }
        }
    }
}
