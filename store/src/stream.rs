//! A connection whose every wait counts towards one deadline, plain or over TLS.

use crate::address::Address;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// A stream to a server, read and written until a deadline.
pub(crate) enum Stream {
    Plain(Timed),
    Tls(Box<StreamOwned<ClientConnection, Timed>>),
}

/// A socket that gives up at a time.
pub(crate) struct Timed {
    socket: TcpStream,
    deadline: Instant,
}

impl Timed {
    /// What is left; a time limit of the system's own would be one per read.
    fn left(&self) -> io::Result<Option<Duration>> {
        left(self.deadline).map(Some)
    }
}

fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// The system calls it "would block" when a time limit ends a wait.
fn late(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::WouldBlock { ErrorKind::TimedOut.into() } else { error }
}

impl Read for Timed {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(self.left()?)?;
        self.socket.read(bytes).map_err(late)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        self.socket.write(bytes).map_err(late)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream {
    /// Connects within the address's time, and within that of the request. TLS is begun by the first bytes.
    pub fn connect(address: &Address, deadline: Instant) -> io::Result<Stream> {
        let connect = deadline.min(Instant::now() + address.connect);
        let mut failed = io::Error::new(ErrorKind::NotFound, "the host has no address");
        for place in resolve(&address.host, address.port, connect)? {
            match TcpStream::connect_timeout(&place, left(connect)?) {
                Ok(socket) => {
                    // A request is one write; there is nothing to collect.
                    socket.set_nodelay(true)?;
                    let socket = Timed { socket, deadline };
                    return if address.tls { tls(socket, &address.host) } else { Ok(Stream::Plain(socket)) };
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Begins a request.
    pub fn set_deadline(&mut self, deadline: Instant) {
        match self {
            Stream::Plain(socket) => socket.deadline = deadline,
            Stream::Tls(stream) => stream.sock.deadline = deadline,
        }
    }
}

/// The addresses of a host. The system's resolver knows no deadline, so a thread waits for it, and is left behind if it is late.
fn resolve(host: &str, port: u16, deadline: Instant) -> io::Result<Vec<SocketAddr>> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![(ip, port).into()]);
    }
    let (sender, answer) = mpsc::sync_channel(1);
    let name = host.to_owned();
    std::thread::Builder::new().spawn(move || sender.send((name.as_str(), port).to_socket_addrs().map(Vec::from_iter)))?;
    answer.recv_timeout(left(deadline)?).unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

/// TLS with the certificates that the system trusts, or those of `SSL_CERT_FILE`.
fn tls(socket: Timed, host: &str) -> io::Result<Stream> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(io::Error::other("no certificate authority is known; install ca-certificates, or name a file by SSL_CERT_FILE"));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(Stream::Tls(Box::new(StreamOwned::new(connection, socket))))
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.read(bytes),
            Stream::Tls(stream) => stream.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(stream) => stream.flush(),
            Stream::Tls(stream) => stream.flush(),
        }
    }
}
