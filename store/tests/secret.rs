//! The key of the entries as processes find it: this test starts itself with other variables.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use strata_store::Secret;

/// The file that a started process writes the id of its key to.
const ANSWER: &str = "SECRET_TEST_ANSWER";

/// What each started process does; on its own it does nothing.
#[test]
fn says_its_key() {
    let Some(answer) = std::env::var_os(ANSWER) else { return };
    let text = Secret::of_environment().map_or_else(|error| format!("error: {error}"), |secret| secret.id().to_owned());
    fs::write(answer, text).unwrap();
}

fn command(answer: &Path, config: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "says_its_key"]).env(ANSWER, answer).env("XDG_CONFIG_HOME", config).env_remove("STRATA_CACHE_KEY");
    command.stdout(Stdio::null());
    command
}

/// What a process says of its key.
fn says(config: &Path, key: Option<&str>) -> String {
    let answer = tempfile::NamedTempFile::new().unwrap();
    let mut command = command(answer.path(), config);
    command.envs(key.map(|key| ("STRATA_CACHE_KEY", key)));
    assert!(command.status().unwrap().success());
    fs::read_to_string(answer.path()).unwrap()
}

#[test]
fn processes_at_once_make_one_key_that_is_the_users_alone() {
    for _ in 0..10 {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config");
        let answers: Vec<_> = (0..8).map(|number| dir.path().join(number.to_string())).collect();
        let children: Vec<_> = answers.iter().map(|answer| command(answer, &config).spawn().unwrap()).collect();
        children.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
        let ids: Vec<_> = answers.iter().map(|answer| fs::read_to_string(answer).unwrap()).collect();
        assert!(ids.iter().all(|id| *id == ids[0] && id.len() == 16), "{ids:?}");
        let folder = config.join("strata");
        assert_eq!(fs::metadata(folder.join("cache.key")).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "nothing else is left there");
        assert_eq!(says(&config, None), ids[0], "it stays");
    }
}

#[test]
fn a_team_gives_the_key_or_a_file_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let (file, key) = (dir.path().join("team.key"), "0123456789abcdef".repeat(4));
    fs::write(&file, format!("{key}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let id = says(dir.path(), Some(&key));
    assert_eq!(id.len(), 16, "{id}");
    assert_eq!(says(dir.path(), Some(&file.display().to_string())), id);
    assert!(!dir.path().join("strata").exists(), "then the user needs none");
    assert_ne!(says(dir.path(), None), id);
}

#[test]
fn a_bad_key_is_refused_with_the_way_out_and_not_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let check = |key: &str, reason: &str| {
        let stderr = says(dir.path(), Some(key));
        assert!(stderr.starts_with("error: cache key ") && stderr.contains(reason) && stderr.contains("openssl rand -hex 32"), "{stderr}");
        assert!(!stderr.contains("abcdef"), "{stderr}");
    };
    check("0123456789abcdef", "neither 64 hexadecimal digits nor a path");
    check(&"0123456789abcdeg".repeat(4), "neither 64 hexadecimal digits nor a path");
    let file = dir.path().join("key");
    let path = file.display().to_string();
    check(&path, "there is no such file");
    for (text, mode, reason) in [
        ("abcdef", 0o600, "does not hold 64 hexadecimal digits"),
        ("", 0o600, "does not hold 64 hexadecimal digits"),
        (&*"0123456789abcdef".repeat(5), 0o600, "does not hold 64 hexadecimal digits"),
        (&*"0123456789abcdef".repeat(4), 0o640, "others may read it"),
        (&*"0123456789abcdef".repeat(4), 0o604, "chmod 600"),
        (&*"0123456789abcdef".repeat(4), 0o620, "others may write to it"),
    ] {
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        check(&path, reason);
    }
    check(&dir.path().display().to_string(), "it is no file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    if std::os::unix::fs::chown(&file, Some(12345), None).is_ok() {
        check(&path, "belongs to the user 12345");
    }
}
