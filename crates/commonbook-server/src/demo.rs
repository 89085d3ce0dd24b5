//! placeholder
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {}
impl Demo {
    pub(crate) fn run(&self) -> commonbook::error::Result<()> {
        Ok(())
    }
}
