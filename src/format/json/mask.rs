//! Paths of a `FieldMask`: JSON writes them in lowerCamelCase.

/// A path as JSON writes it; `None` if that would not read as the same path.
pub fn camel(path: &str) -> Option<String> {
    let mut text = String::with_capacity(path.len());
    let mut after = false;
    for c in path.chars() {
        match c {
            '_' if !after => after = true,
            'a'..='z' if after => {
                text.push(c.to_ascii_uppercase());
                after = false;
            }
            _ if after || c.is_ascii_uppercase() || c == ',' => return None,
            _ => text.push(c),
        }
    }
    (!after).then_some(text)
}

/// The path that JSON writes as `text`; `None` if it writes none so.
pub fn snake(text: &str) -> Option<String> {
    let mut path = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '_' => return None,
            'A'..='Z' => path.extend(['_', c.to_ascii_lowercase()]),
            _ => path.push(c),
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_both_ways() {
        for (path, text) in [("foo", "foo"), ("foo_bar.b_az", "fooBar.bAz"), ("", ""), ("_foo", "Foo"), ("a1", "a1")] {
            assert_eq!(camel(path).as_deref(), Some(text));
            assert_eq!(snake(text).as_deref(), Some(path));
        }
        for path in ["fooBar", "foo_3_bar", "foo__bar", "foo_", "a,b"] {
            assert_eq!(camel(path), None, "{path}");
        }
        assert_eq!(snake("foo_bar"), None);
    }
}
