//! placeholder
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {}
impl Bench {
    pub(crate) fn run(&self) -> commonbook::error::Result<()> {
        Ok(())
    }
}
