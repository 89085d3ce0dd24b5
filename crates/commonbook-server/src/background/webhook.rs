//! Webhooks: sending their messages, and delivering the journals in the background.

mod deliver;
mod send;

pub(crate) use deliver::deliver_in_background;
pub(crate) use send::HttpWebhookSender;
