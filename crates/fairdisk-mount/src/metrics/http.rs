//! The part of HTTP/1.1 that a scrape needs: one short request, one response, and the connection is
//! closed.

/// The largest request in bytes, headers included. Those of scrapers have a few hundred bytes.
pub(super) const HEAD_BYTES_MAX: usize = 8 << 10;

/// What is shown to those who ask for `/`.
const HOME: &str = "<!DOCTYPE html>\n<title>Fairdisk</title>\n<h1>Fairdisk</h1>\n\
                    <p><a href=\"/metrics\">Metrics</a> of the mounts on a disk</p>\n";

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The metrics.
    Metrics,
    /// A word about where they are.
    Home,
    /// How long the metrics are.
    MetricsHead,
    /// How long that word is.
    HomeHead,
    /// A path other than that of the metrics.
    Elsewhere,
    /// A method other than GET and HEAD.
    OtherMethod,
    /// A request that is not HTTP/1.
    Nonsense,
    /// A request that exceeds the limit.
    TooLong,
}

/// Parses the head of a request; `None` while it is incomplete.
pub(super) fn read(head: &[u8]) -> Option<Asked> {
    let ends =
        head.windows(4).any(|at| at == b"\r\n\r\n") || head.windows(2).any(|at| at == b"\n\n");
    if !ends {
        return (head.len() >= HEAD_BYTES_MAX).then_some(Asked::TooLong);
    }
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Ok(line) = std::str::from_utf8(line) else { return Some(Asked::Nonsense) };
    let words: Vec<&str> = line.trim_end_matches('\r').split(' ').collect();
    let [method, target, version] = words[..] else { return Some(Asked::Nonsense) };
    if !version.starts_with("HTTP/1.") {
        return Some(Asked::Nonsense);
    }
    let path = target.split('?').next().unwrap_or_default();
    Some(match (method, path) {
        ("GET", "/metrics") => Asked::Metrics,
        ("HEAD", "/metrics") => Asked::MetricsHead,
        ("GET", "/") => Asked::Home,
        ("HEAD", "/") => Asked::HomeHead,
        ("GET" | "HEAD", _) => Asked::Elsewhere,
        _ => Asked::OtherMethod,
    })
}

/// The response to a request. `page` generates the metrics.
pub(super) fn answer(asked: Asked, page: impl FnOnce() -> String) -> String {
    let (status, more, body) = match asked {
        Asked::Metrics | Asked::MetricsHead => ("200 OK", "", page()),
        Asked::Home | Asked::HomeHead => ("200 OK", "", HOME.to_owned()),
        Asked::Elsewhere => ("404 Not Found", "", "only /metrics is here\n".to_owned()),
        Asked::OtherMethod => {
            let body = "only GET and HEAD are answered\n".to_owned();
            ("405 Method Not Allowed", "Allow: GET, HEAD\r\n", body)
        }
        Asked::Nonsense => ("400 Bad Request", "", "not a question in HTTP/1\n".to_owned()),
        Asked::TooLong => {
            ("431 Request Header Fields Too Large", "", "the question is too long\n".to_owned())
        }
    };
    let kind = match asked {
        Asked::Metrics | Asked::MetricsHead => "text/plain; version=0.0.4; charset=utf-8",
        Asked::Home | Asked::HomeHead => "text/html; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    };
    let length = body.len();
    let body = match asked {
        Asked::MetricsHead | Asked::HomeHead => String::new(),
        _ => body,
    };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\
         Connection: close\r\n\r\n{body}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_told_apart() {
        for (head, asked) in [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", Some(Asked::Metrics)),
            ("GET /metrics?a=b HTTP/1.0\r\n\r\n", Some(Asked::Metrics)),
            ("GET /metrics HTTP/1.1\n\n", Some(Asked::Metrics)),
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n", None),
            ("", None),
            ("GET / HTTP/1.1\r\n\r\n", Some(Asked::Home)),
            ("HEAD / HTTP/1.1\r\n\r\n", Some(Asked::HomeHead)),
            ("HEAD /metrics HTTP/1.1\r\n\r\n", Some(Asked::MetricsHead)),
            ("GET /index.html HTTP/1.1\r\n\r\n", Some(Asked::Elsewhere)),
            ("GET /../metrics HTTP/1.1\r\n\r\n", Some(Asked::Elsewhere)),
            ("POST /metrics HTTP/1.1\r\n\r\n", Some(Asked::OtherMethod)),
            ("get /metrics HTTP/1.1\r\n\r\n", Some(Asked::OtherMethod)),
            ("GET /metrics HTTP/2\r\n\r\n", Some(Asked::Nonsense)),
            ("GET /metrics\r\n\r\n", Some(Asked::Nonsense)),
            ("\r\n\r\n", Some(Asked::Nonsense)),
        ] {
            assert_eq!(read(head.as_bytes()), asked, "{head:?}");
        }
        assert_eq!(read(b"\xff\xfe /metrics HTTP/1.1\r\n\r\n"), Some(Asked::Nonsense));
        assert_eq!(read(&vec![b'x'; HEAD_BYTES_MAX]), Some(Asked::TooLong));
    }

    #[test]
    fn answers_say_how_long_they_are() {
        let text = answer(Asked::Metrics, || "é 1\n".to_owned());
        assert!(text.contains("\r\nContent-Length: 5\r\n") && text.ends_with("\r\n\r\né 1\n"));
        assert!(answer(Asked::OtherMethod, String::new).contains("\r\nAllow: GET, HEAD\r\n"));
        let head = answer(Asked::MetricsHead, || "é 1\n".to_owned());
        assert!(head.contains("\r\nContent-Length: 5\r\n") && head.ends_with("\r\n\r\n"));
    }
}
