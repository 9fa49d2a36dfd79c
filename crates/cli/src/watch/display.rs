//! What is seen while somebody waits.

use std::time::Instant;

use legation_core::ids::DelegationId;
use legation_engine::news::News;
use legation_engine::protocol::Told;

use crate::output::Output;
use crate::page::tame;
use crate::show::figures::short;
use crate::show::live::Live;
use crate::show::model::Model;
use crate::show::news;

/// What is seen while somebody waits.
pub(super) enum Display {
    /// Nothing.
    Silent,
    /// A line for each thing that happens.
    Lines,
    /// A tree that is drawn again and again.
    Tree(Box<Tree>),
}

/// A tree that is drawn again and again.
pub(super) struct Tree {
    live: Live,
    model: Model,
    title: String,
    since: Instant,
}

impl Tree {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn draw(&mut self, output: &mut Output) {
        let (columns, rows) = Live::size();
        let lines = self.model.lines(columns, rows, self.now_ms());
        output.wrote(self.live.draw(&lines));
    }
}

impl Display {
    /// What fits the place where the answer goes.
    pub(super) fn of(output: &Output) -> Self {
        if output.wants_json() {
            return Self::Silent;
        }
        match Live::screen() {
            Some(live) => {
                let (model, title, since) = (Model::default(), String::new(), Instant::now());
                Self::Tree(Box::new(Tree { live, model, title, since }))
            }
            None => Self::Lines,
        }
    }

    /// What the delegation is called.
    pub(super) fn title(&mut self, title: &str) {
        match self {
            Self::Tree(tree) => title.clone_into(&mut tree.title),
            Self::Silent | Self::Lines => {}
        }
    }

    /// Which delegation it is.
    pub(super) fn begin(&mut self, id: &DelegationId, chosen: &[Told]) {
        match self {
            Self::Tree(tree) => tree.model.begin(id, &tree.title, chosen),
            Self::Silent | Self::Lines => {}
        }
    }

    /// Who was chosen, and why.
    pub(super) fn chosen(&mut self, output: &mut Output, chosen: &[Told]) {
        for told in chosen {
            let text =
                format!("{} → {}: {}", short(told.subtask.as_str()), told.agent, told.reason);
            match self {
                Self::Silent => {}
                Self::Lines => output.line(&(), || tame(&text)),
                Self::Tree(_) => self.note(output, &text),
            }
        }
    }

    /// Something happened.
    pub(super) fn tell(&mut self, output: &mut Output, news: &News) {
        match self {
            Self::Silent => {}
            Self::Lines => output.line(&(), || news::line(news)),
            Self::Tree(tree) => {
                let now_ms = tree.now_ms();
                tree.model.take(news, now_ms);
            }
        }
    }

    /// Something that the user should know beside it.
    pub(super) fn note(&mut self, output: &mut Output, text: &str) {
        self.end(output);
        output.note(&tame(text));
    }

    /// Shows how things stand now.
    pub(super) fn draw(&mut self, output: &mut Output) {
        match self {
            Self::Silent | Self::Lines => {}
            Self::Tree(tree) => tree.draw(output),
        }
    }

    /// Makes room for what is said at the end.
    pub(super) fn end(&mut self, output: &mut Output) {
        match self {
            Self::Silent | Self::Lines => {}
            Self::Tree(tree) => output.wrote(tree.live.clear()),
        }
    }
}
