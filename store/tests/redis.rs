//! The shared cache, against a real server that this test starts: plain, with a password, over TLS.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use strata_store::{Kind, Lookup, Place, Settings, Store};

mod common;
use common::{parts, poisoned, settings, warnings_given};

/// A server of Debian's `redis-server`, without a disk.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts one; `{port}` in its options is its port.
    fn start(options: &[&str]) -> Server {
        // Somebody else may take the port before the server does.
        std::iter::repeat_with(|| Server::start_once(options)).flatten().next().unwrap()
    }

    fn start_once(options: &[&str]) -> Option<Server> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let options = options.iter().map(|option| option.replace("{port}", &port.to_string()));
        let child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("redis-server is installed (./x test installs it)");
        let mut server = Server { child, port };
        // Whoever answers at the port may be another test's server: this one says itself that it listens, or ends.
        let output = BufReader::new(server.child.stdout.as_mut().unwrap());
        let listens = output.lines().map_while(Result::ok).any(|line| line.contains("Ready to accept connections"));
        listens.then_some(server)
    }

    fn stop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A store behind a server that a busy machine has all time for.
fn open(dir: &Path, address: &str) -> Store {
    common::open(&Settings { remote: Some(format!("{address}?connect_ms=600000&request_ms=600000")), ..settings(dir) })
}

#[test]
fn a_team_shares_results() {
    let mut server = Server::start(&["--port", "{port}"]);
    let address = format!("redis://127.0.0.1:{}", server.port);
    let (mine, yours) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (first, store) = (open(mine.path(), &address), open(yours.path(), &address));
    let key = first.put(Kind::Artefact, &parts("a"), b"code").unwrap();
    let Lookup::Hit(entry) = store.get(&key) else { panic!("it is there") };
    assert_eq!((&*entry.data, entry.place), (&b"code"[..], Place::Remote));
    let Lookup::Hit(entry) = store.get(&key) else { panic!("it is here") };
    assert_eq!(entry.place, Place::Disk);
    assert!(matches!(store.get(&parts("b").key(Kind::Artefact)), Lookup::Miss));
    let large = vec![3; 10 << 20];
    let key = first.put(Kind::Object, &parts("large"), &large).unwrap();
    assert_eq!(store.get(&key).data(), Some(large));
    assert!(warnings_given().is_empty());

    server.stop();
    assert!(matches!(store.get(&key), Lookup::Hit(_)), "what came once is on the disk");
    let key = store.put(Kind::Artefact, &parts("d"), b"code").unwrap();
    assert!(matches!(store.get(&key), Lookup::Hit(_)), "the disk has it");
    store.put(Kind::Artefact, &parts("e"), b"code").unwrap();
    let warnings = warnings_given();
    assert!(
        warnings.len() == 1 && warnings[0].contains("remote cache redis://127.0.0.1"),
        "a server that is down is warnings once: {warnings:?}"
    );
}

#[test]
fn another_key_is_another_team_and_a_poisoned_value_is_not_used() {
    let server = Server::start(&["--port", "{port}"]);
    let address = format!("redis://127.0.0.1:{}/2", server.port);
    let (mine, yours) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let key = open(mine.path(), &address).put(Kind::Artefact, &parts("a"), b"good code").unwrap();
    let store = open(yours.path(), &address);
    let stranger = Settings { key: Some(strata_store::Secret::new([8; 32])), remote: Some(address.clone()), ..settings(yours.path()) };
    assert!(matches!(common::open(&stranger).get(&key), Lookup::Miss));
    assert!(warnings_given().is_empty(), "strangers are not in each other's way");

    let path = open(mine.path(), &address).path(&key);
    let poison = poisoned(&std::fs::read(path).unwrap(), b"evil code");
    let mut client = Command::new("redis-cli");
    client.args(["-p", &server.port.to_string(), "-n", "2", "--raw"]);
    let names = String::from_utf8(client.arg("KEYS").arg("*").output().expect("it comes with redis-server").stdout).unwrap();
    let file = mine.path().join("poison");
    std::fs::write(&file, poison).unwrap();
    let mut client = Command::new("redis-cli");
    client.args(["-p", &server.port.to_string(), "-n", "2", "-x", "SET", names.trim()]).stdin(std::fs::File::open(&file).unwrap());
    assert!(client.stdout(Stdio::null()).status().unwrap().success());
    let found = store.get(&key);
    assert!(matches!(found, Lookup::Unusable(strata_store::Unusable::NotAuthentic)), "{found:?}");
    assert_eq!(warnings_given().len(), 1);
}

#[test]
fn a_password_opens_and_is_not_told() {
    let mut server = Server::start(&["--port", "{port}", "--requirepass", "s3cret", "--user", "me", "on", ">my-s3cret", "~*", "+@all"]);
    let get = |user: &str| {
        let dir = tempfile::tempdir().unwrap();
        let found = open(dir.path(), &format!("redis://{user}127.0.0.1:{}", server.port)).get(&parts("a").key(Kind::Group));
        assert!(matches!(found, Lookup::Miss));
        warnings_given().join("\n")
    };
    assert_eq!(get(":s3cret@"), "");
    assert_eq!(get("me:my-s3cret@"), "");
    for (user, reason) in [("", "NOAUTH"), (":wr0ng@", "WRONGPASS"), ("me:wr0ng@", "WRONGPASS")] {
        let warnings = get(user);
        assert!(warnings.contains(reason) && !warnings.contains("s3cret") && !warnings.contains("wr0ng"), "{warnings}");
    }
    server.stop();
}

/// What a process does that trusts the authority of `SSL_CERT_FILE`; on its own it does nothing.
#[test]
fn is_a_client_over_tls() {
    let Some(port) = std::env::var_os("REDIS_TEST_PORT") else { return };
    let dir = tempfile::tempdir().unwrap();
    let get = |host: &str| {
        let address = format!("{host}:{}", port.to_string_lossy());
        let store = open(dir.path(), &address);
        store.put(Kind::Group, &parts("a"), b"code").unwrap();
        std::fs::remove_dir_all(store.root()).unwrap();
        (store.get(&parts("a").key(Kind::Group)).data(), warnings_given().join("\n"))
    };
    assert_eq!(get("rediss://:s3cret@127.0.0.1"), (Some(b"code".to_vec()), String::new()));
    assert_eq!(get("rediss://:s3cret@localhost"), (Some(b"code".to_vec()), String::new()));
    let (nothing, warnings) = get("redis://:s3cret@127.0.0.1");
    assert!(nothing.is_none() && warnings.contains("remote cache"), "a client without TLS: {warnings}");
}

/// What a process does that does not know the authority; on its own it does nothing.
#[test]
fn is_a_client_that_knows_no_such_authority() {
    let Some(port) = std::env::var_os("REDIS_TEST_PORT") else { return };
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), &format!("rediss://:s3cret@127.0.0.1:{}", port.to_string_lossy()));
    assert!(matches!(store.get(&parts("a").key(Kind::Group)), Lookup::Miss));
    let warnings = warnings_given().join("\n");
    assert!(warnings.contains("invalid peer certificate"), "{warnings}");
}

#[test]
fn tls_keeps_the_password_and_knows_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let authority = |name: &str| {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    };
    let (ours, other) = (authority("ours"), authority("another"));
    let key = KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &ours).unwrap();
    let (key, certificate) = (file("key.pem", key.serialize_pem()), file("server.pem", certificate.pem()));
    let (known, unknown) = (file("ca.pem", ours.pem()), file("other.pem", other.pem()));
    let server = Server::start(&[
        "--port",
        "0",
        "--tls-port",
        "{port}",
        "--tls-cert-file",
        &certificate,
        "--tls-key-file",
        &key,
        "--tls-ca-cert-file",
        &known,
        "--tls-auth-clients",
        "no",
        "--requirepass",
        "s3cret",
    ]);
    for (test, authorities) in [("is_a_client_over_tls", known), ("is_a_client_that_knows_no_such_authority", unknown)] {
        let mut client = Command::new(std::env::current_exe().unwrap());
        client.args(["--exact", test]).env("REDIS_TEST_PORT", server.port.to_string()).env("SSL_CERT_FILE", authorities);
        let done = client.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    }
}
