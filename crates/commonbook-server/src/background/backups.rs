//! Backups on a schedule: a server writes one when the newest is old, and removes those beyond a number.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use commonbook::base::clock::{Clock as _, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::background::home_backup;
use crate::calls::call::run_blocking;
use crate::settings::sections::BackupSchedule;

/// The delay between two looks at the age of the newest backup.
const LOOK_DELAY: Duration = Duration::from_secs(60);

/// The age of a folder that a killed process has left, from which no process writes into it any more.
const LEFTOVER_AGE: SignedDuration = SignedDuration::from_hours(24);

/// The name of a backup: its time, in UTC. No other file of the folder is read or removed.
const NAME_FORMAT: &str = "commonbook-%Y%m%dT%H%M%SZ.backup";

impl BackupSchedule {
    /// The backups of the folder by their times, oldest first.
    ///
    /// # Errors
    /// `unavailable` if the folder cannot be read.
    fn backups(&self) -> Result<Vec<(Timestamp, PathBuf)>> {
        let entries = fs::read_dir(&self.folder).map_err(|error| self.unusable(error))?;
        let mut backups: Vec<(Timestamp, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let time = DateTime::strptime(NAME_FORMAT, name).ok()?;
                Some((time.to_zoned(TimeZone::UTC).ok()?.timestamp(), entry.path()))
            })
            .collect();
        backups.sort();
        Ok(backups)
    }

    /// When the newest backup was written; `None` if there is none. One of the future is of a clock that
    /// went wrong, and does not count.
    ///
    /// # Errors
    /// `unavailable` if the folder cannot be read.
    pub(crate) fn newest_at(&self, now: Timestamp) -> Result<Option<Timestamp>> {
        Ok(self.backups()?.into_iter().map(|(at, _)| at).rfind(|at| *at <= now))
    }

    /// Writes a backup if the newest one is old enough, and then removes the oldest beyond the number that
    /// stays. Returns the file that was written.
    ///
    /// # Errors
    /// `unavailable` if the folder cannot be read or written, or the backup is not equal: then none is removed.
    fn run_at(&self, home: &Path, store: &Path, now: Timestamp) -> Result<Option<PathBuf>> {
        let newest = self.newest_at(now)?;
        if newest.is_some_and(|newest| now.duration_since(newest) < self.every) {
            return Ok(None);
        }
        self.remove_leftovers(now)?;
        let file = self.folder.join(now.strftime(NAME_FORMAT).to_string());
        home_backup::write_home_backup(home, store, &file, false)?;
        let backups = self.backups()?;
        let beyond = backups.len().saturating_sub(self.keep);
        for (_, path) in backups.iter().take(beyond).filter(|(_, path)| *path != file) {
            fs::remove_file(path).map_err(|error| self.unusable(error))?;
        }
        Ok(Some(file))
    }

    /// Removes the folders of backups whose process was killed a day ago or earlier.
    fn remove_leftovers(&self, now: Timestamp) -> Result<()> {
        let entries = fs::read_dir(&self.folder).map_err(|error| self.unusable(error))?;
        for entry in entries.flatten() {
            let is_staging =
                entry.file_name().to_string_lossy().starts_with(home_backup::STAGING_PREFIX);
            let modified = entry.metadata().ok().filter(|found| is_staging && found.is_dir());
            let modified =
                modified.and_then(|found| Timestamp::try_from(found.modified().ok()?).ok());
            if modified.is_some_and(|modified| now.duration_since(modified) > LEFTOVER_AGE) {
                fs::remove_dir_all(entry.path()).map_err(|error| self.unusable(error))?;
            }
        }
        Ok(())
    }

    fn unusable(&self, error: std::io::Error) -> Error {
        let message =
            format!("the backup folder {} cannot be used: {error}", self.folder.display());
        Error::new(ErrorKind::Unavailable, message)
            .hint("Create the folder, or correct `backup.folder` in config.json.")
            .with_cause(error)
    }
}

/// Writes backups by the schedule until the program stops. A failure is logged once, and tried again.
pub(crate) async fn back_up_in_background(
    schedule: BackupSchedule,
    home: PathBuf,
    store: PathBuf,
    stopping: CancellationToken,
) {
    let mut failed = false;
    while !stopping.is_cancelled() {
        let (schedule, home, store) = (schedule.clone(), home.clone(), store.clone());
        let run = move || schedule.run_at(&home, &store, SystemClock.now());
        let result = run_blocking(run).await;
        match &result {
            Ok(Some(file)) => tracing::info!(file = %file.display(), "backed up"),
            Ok(None) => {}
            Err(error) if !failed => tracing::warn!(%error, "cannot back up; trying again"),
            Err(_) => {}
        }
        failed = result.is_err();
        tokio::select! {
            () = tokio::time::sleep(LOOK_DELAY) => {},
            () = stopping.cancelled() => {},
        }
    }
}

#[cfg(test)]
mod tests {
    use commonbook::Commonbook;
    use commonbook::store::sqlite::backup::read_backup;

    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(480_000 + hours)
    }

    /// A home with a store, and a schedule into a folder beside it.
    struct ScheduledHome {
        _base: tempfile::TempDir,
        home: PathBuf,
        store: PathBuf,
        schedule: BackupSchedule,
    }

    impl ScheduledHome {
        fn new(every_hours: u32, keep: u32) -> Self {
            let base = tempfile::tempdir().unwrap();
            let [home, folder] = ["home", "backups"].map(|name| base.path().join(name));
            [&home, &folder].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
            let store = home.join("commonbook.db");
            drop(Commonbook::new(crate::settings::store::open_store(&store).unwrap()));
            let every = SignedDuration::from_hours(every_hours.into());
            let schedule = BackupSchedule { folder, every, keep: keep as usize };
            Self { _base: base, home, store, schedule }
        }

        fn run_at(&self, now: Timestamp) -> Option<PathBuf> {
            self.schedule.run_at(&self.home, &self.store, now).unwrap()
        }

        fn folder(&self) -> &Path {
            &self.schedule.folder
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_backup_is_written_when_the_newest_is_old_and_the_oldest_go() {
        let home = ScheduledHome::new(24, 2);
        // Files of others stay, whatever they look like.
        for name in ["commonbook-old.backup", "commonbook-20200101T000000Z.backup.part", "notes"] {
            fs::write(home.folder().join(name), "mine").unwrap();
        }
        let run = |hours| home.run_at(at(hours));
        assert!(run(0).is_some() && run(1).is_none() && run(23).is_none());
        assert!(run(24).is_some() && run(50).is_some());
        assert_eq!(home.schedule.newest_at(at(60)).unwrap(), Some(at(50)));
        let backups = home.schedule.backups().unwrap();
        assert_eq!(backups.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [at(24), at(50)]);
        assert_eq!(names(home.folder()).len(), 5);
        assert!(read_backup(&backups[1].1).is_ok());
    }

    #[test]
    fn what_a_killed_process_left_goes_after_a_day() {
        let home = ScheduledHome::new(1, 7);
        let left = home.folder().join(format!("{}x", home_backup::STAGING_PREFIX));
        fs::create_dir(&left).unwrap();
        let now = SystemClock.now();
        home.run_at(now + SignedDuration::from_hours(23));
        assert!(left.exists());
        home.run_at(now + SignedDuration::from_hours(25));
        assert!(!left.exists());
    }

    #[test]
    fn a_clock_that_goes_wrong_neither_stops_backups_nor_removes_the_new_one() {
        let home = ScheduledHome::new(24, 1);
        home.run_at(at(90_000)).unwrap();
        let file = home.run_at(at(0)).unwrap();
        assert!(file.exists(), "{:?}", names(home.folder()));
        assert_eq!(home.run_at(at(1)), None, "it is not written again");
    }

    #[test]
    fn a_failed_backup_removes_none() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("backups");
        fs::create_dir(&folder).unwrap();
        for hours in 0..3 {
            fs::write(folder.join(at(hours).strftime(NAME_FORMAT).to_string()), "old").unwrap();
        }
        let every = SignedDuration::from_hours(24);
        let schedule = BackupSchedule { folder: folder.clone(), every, keep: 1 };
        let store = base.path().join("gone/commonbook.db");
        assert!(schedule.run_at(base.path(), &store, at(100)).is_err());
        assert_eq!(names(&folder).len(), 3);
        fs::remove_dir_all(&folder).unwrap();
        let error = schedule.run_at(base.path(), &store, at(100)).unwrap_err();
        assert!(error.message.contains("backups") && error.hint.is_some(), "{error}");
    }
}
