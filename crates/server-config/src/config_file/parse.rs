//! From TOML text to settings, or to an error that names line, column and key.

use std::{borrow::Cow, ops::Range};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    ApiTable, Entries, Entry, FlowEntry, Tables,
    keys::{Key, Place, Shape},
};
use crate::given::{Given, SetupError};

type Spot<'a> = &'a Spanned<DeValue<'a>>;

/// Tables of the file besides `[[api]]`.
const TABLES: [&str; 3] = ["api", "flow", "limits"];

/// Reads the text of the file that messages call `file`.
pub(super) fn parse(file: &str, text: &str, keys: &[Key]) -> Result<Tables, SetupError> {
    let reader = Reader { file, text, keys };
    let document = DeTable::parse(text).map_err(|error| {
        let place = reader.place(error.span().unwrap_or_default());
        SetupError::new(
            format!("{place}: {}", error.message().replace('\n', " ")),
            "the file is TOML: `key = \"value\"` lines, and tables such as `[[api]]`",
        )
    })?;
    reader.tables(document.get_ref())
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    keys: &'a [Key],
}

impl Reader<'_> {
    fn tables(&self, document: &DeTable<'_>) -> Result<Tables, SetupError> {
        let mut tables = Tables::default();
        let top = |key: &Key| key.is_on_top();
        for (name, value) in document {
            match (name.get_ref().as_ref(), value.get_ref()) {
                ("limits", DeValue::Table(limits)) => {
                    let place = |key: &Key| key.place == Place::Limits;
                    self.entries(limits, "[limits]", &place, &mut tables.top)?;
                }
                ("api", DeValue::Array(apis)) => {
                    for api in apis.iter() {
                        tables.apis.push(self.api(api)?);
                    }
                }
                ("flow", DeValue::Array(flows)) => {
                    for flow in flows.iter() {
                        tables.flows.push(self.flow(flow)?);
                    }
                }
                (table @ ("api" | "flow"), _) => {
                    return Err(self.wrong(
                        name.span(),
                        &format!("`{table}` is not a list of tables"),
                        &format!("write `[[{table}]]`, with two brackets, before its keys"),
                    ));
                }
                ("limits", _) => {
                    return Err(self.wrong(
                        name.span(),
                        "`limits` is not a table",
                        "write `[limits]` before its keys",
                    ));
                }
                _ => self.entry(name, value, "the top of the file", &top, &mut tables.top)?,
            }
        }
        Ok(tables)
    }

    fn api(&self, api: Spot<'_>) -> Result<ApiTable, SetupError> {
        let table = self.table(api, "api")?;
        let mut entries = Entries::default();
        self.entries(table, "[[api]]", &Key::is_in_api, &mut entries)?;
        let first = table.keys().map(|key| key.span().start).min();
        let start = first.unwrap_or(api.span().start);
        if !entries.contains_key("MCP_API") && !entries.contains_key("MCP_OPENAPI") {
            return Err(self.wrong(
                start..start,
                "this `[[api]]` has neither `profile` nor `document`",
                "write `profile = \"authentik\"`, `profile = \"sentry\"` or `document = \"FILE or URL\"`",
            ));
        }
        Ok(ApiTable { entries })
    }

    fn flow(&self, flow: Spot<'_>) -> Result<FlowEntry, SetupError> {
        let table = self.table(flow, "flow")?;
        let mut ends: [Option<Given>; 2] = [None, None];
        for (name, value) in table {
            let key = name.get_ref().as_ref();
            let at = match key {
                "from" => 0,
                "to" => 1,
                _ => {
                    let message = format!("`{key}` is not a key of `[[flow]]`");
                    return Err(self.wrong(name.span(), &message, "its keys are `from` and `to`"));
                }
            };
            let Some(text) = value.get_ref().as_str() else {
                return Err(self.wrong_value(key, value, "the name of an API, in quotes"));
            };
            ends[at] = Some(self.given(key, name.span(), text.to_owned()));
        }
        match ends {
            [Some(from), Some(to)] => Ok(FlowEntry { from, to }),
            _ => Err(self.wrong(
                flow.span(),
                "this `[[flow]]` has not both `from` and `to`",
                "write `from = \"NAME\"` and `to = \"NAME\"`",
            )),
        }
    }

    fn table<'t>(
        &self,
        value: &'t Spanned<DeValue<'t>>,
        of: &str,
    ) -> Result<&'t DeTable<'t>, SetupError> {
        value.get_ref().as_table().ok_or_else(|| {
            self.wrong(
                value.span(),
                &format!("an entry of `{of}` is not a table"),
                &format!("write `[[{of}]]` before its keys"),
            )
        })
    }

    fn entries(
        &self,
        table: &DeTable<'_>,
        of: &str,
        fits: &dyn Fn(&Key) -> bool,
        entries: &mut Entries,
    ) -> Result<(), SetupError> {
        let of = format!("`{of}`");
        table.iter().try_for_each(|(name, value)| self.entry(name, value, &of, fits, entries))
    }

    fn entry(
        &self,
        name: &Spanned<Cow<'_, str>>,
        value: Spot<'_>,
        of: &str,
        fits: &dyn Fn(&Key) -> bool,
        entries: &mut Entries,
    ) -> Result<(), SetupError> {
        let known = self.keys.iter().find(|key| key.name == *name.get_ref() && fits(key));
        let Some(key) = known else {
            return Err(self.unknown(name, of, fits));
        };
        let text = self.text_of(key, value)?;
        let secret = key.is_secret() || key.option == "proxy" && text.contains('@');
        let given = self.given(&key.name, name.span(), text);
        entries.insert(key.variable(), Entry { given, secret, gives_token: key.gives_token });
        Ok(())
    }

    /// The value as its environment variable would hold it.
    fn text_of(&self, key: &Key, value: Spot<'_>) -> Result<String, SetupError> {
        let name = key.name.as_str();
        match (key.shape, value.get_ref()) {
            (Shape::Switch, DeValue::Boolean(on)) => Ok(on.to_string()),
            (Shape::Switch, _) => Err(self.wrong_value(name, value, "true or false")),
            (Shape::Text, DeValue::String(text)) => Ok(text.to_string()),
            (Shape::Text, DeValue::Integer(number)) if number.radix() == 10 => {
                Ok(number.as_str().to_owned())
            }
            (Shape::Text, DeValue::Float(number)) => Ok(number.as_str().to_owned()),
            (Shape::Text, _) => Err(self.wrong_value(name, value, "text in quotes, or a number")),
            (Shape::List, DeValue::String(text)) => self.line(name, value, text),
            (Shape::List, DeValue::Array(items)) => {
                let lines = items.iter().map(|item| match item.get_ref() {
                    DeValue::String(text) => self.line(name, item, text),
                    _ => Err(self.wrong_value(name, item, "a list of texts in quotes")),
                });
                Ok(lines.collect::<Result<Vec<_>, _>>()?.join("\n"))
            }
            (Shape::List, DeValue::Table(pairs)) if key.option == "header" => {
                let lines = pairs.iter().map(|(header, item)| match item.get_ref() {
                    DeValue::String(text) => self
                        .line(name, item, text)
                        .map(|text| format!("{}: {text}", header.get_ref())),
                    _ => Err(self.wrong_value(name, item, "text in quotes")),
                });
                Ok(lines.collect::<Result<Vec<_>, _>>()?.join("\n"))
            }
            (Shape::List, _) => Err(self.wrong_value(name, value, "a list of texts in quotes")),
        }
    }

    /// One item of a list, which must stay one.
    fn line(&self, name: &str, value: Spot<'_>, text: &str) -> Result<String, SetupError> {
        if text.contains(char::is_control) {
            return Err(self.wrong_value(name, value, "text without line breaks"));
        }
        Ok(text.to_owned())
    }

    fn given(&self, name: &str, span: Range<usize>, text: String) -> Given {
        let (line, _) = self.position(span.start);
        Given { text, from: format!("`{name}` ({}:{line})", self.file) }
    }

    fn unknown(
        &self,
        name: &Spanned<Cow<'_, str>>,
        of: &str,
        fits: &dyn Fn(&Key) -> bool,
    ) -> SetupError {
        let wrong = name.get_ref().as_ref();
        let message = format!("`{wrong}` is not a key of {of}");
        let exact = |key: &&Key| key.name == wrong || key.option == wrong;
        if let Some(key) = self.keys.iter().find(exact) {
            let hint = match key.place {
                _ if fits(key) => format!("in a file it is `{}`", key.name),
                Place::Limits => format!("`{}` stands under `[limits]`", key.name),
                Place::Api => format!("`{}` stands under `[[api]]`", key.name),
                Place::Top | Place::Both => {
                    format!("`{}` stands at the top of the file, above all tables", key.name)
                }
            };
            return self.wrong(name.span(), &message, &hint);
        }
        let tables = TABLES.iter().filter(|_| of.starts_with("the top"));
        let names = self.keys.iter().filter(|key| fits(key)).map(|key| key.name.as_str());
        let nearest = names
            .chain(tables.copied())
            .map(|known| (distance(wrong, known), known))
            .min()
            .filter(|(distance, known)| *distance <= 1 + known.len() / 3);
        let hint = match nearest {
            Some((_, known)) => format!("did you mean `{known}`?"),
            None => "`mcp-stdio --help` lists the options, which are the keys too".to_owned(),
        };
        self.wrong(name.span(), &message, &hint)
    }

    fn wrong_value(&self, key: &str, value: Spot<'_>, wanted: &str) -> SetupError {
        let found = value.get_ref().type_str();
        self.wrong(value.span(), &format!("`{key}` is of type {found}"), &format!("use {wanted}"))
    }

    fn wrong(&self, span: Range<usize>, message: &str, hint: &str) -> SetupError {
        SetupError::new(format!("{}: {message}", self.place(span)), hint)
    }

    /// `config.toml:12:5`.
    fn place(&self, span: Range<usize>) -> String {
        let (line, column) = self.position(span.start);
        format!("{}:{line}:{column}", self.file)
    }

    /// Line and column of a byte, from one; columns count characters.
    fn position(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let column = before.get(line_start..).map_or(0, |line| line.chars().count());
        (before.matches('\n').count() + 1, column + 1)
    }
}

/// How many letters differ between two words.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut diagonal = at;
        let mut left = at + 1;
        for (cell, known) in row.iter_mut().skip(1).zip(&other) {
            let above = *cell;
            left = (left + 1).min(above + 1).min(diagonal + usize::from(letter != *known));
            *cell = left;
            diagonal = above;
        }
    }
    // Against nothing, every letter differs.
    if other.is_empty() { one.chars().count() } else { row.last().copied().unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config_file::keys::keys;

    fn fails(text: &str) -> String {
        parse("c.toml", text, &keys()).unwrap_err().to_string()
    }

    #[test]
    fn a_key_becomes_its_variable_with_its_line() {
        let text = "confirm = \"off\"\nallow = [\"GET /a/*\", \"users\"]\n\
                    [limits]\nwall = 12.5\nmax_requests = 1_000\n\
                    [[api]]\ndocument = \"a.json\"\nread_only = true\n\
                    headers = { \"X-A\" = \"1\", \"X-B\" = \"2\" }\n\
                    [[flow]]\nfrom = \"a\"\nto = \"b\"\n";
        let tables = parse("c.toml", text, &keys()).unwrap();
        let top = |name: &str| {
            let entry = &tables.top[name];
            (entry.given.text.as_str(), entry.given.from.as_str())
        };
        assert_eq!(top("MCP_CONFIRM"), ("off", "`confirm` (c.toml:1)"));
        assert_eq!(top("MCP_ALLOW"), ("GET /a/*\nusers", "`allow` (c.toml:2)"));
        assert_eq!(top("MCP_WALL"), ("12.5", "`wall` (c.toml:4)"));
        assert_eq!(top("MCP_MAX_REQUESTS"), ("1000", "`max_requests` (c.toml:5)"));
        let api = &tables.apis[0].entries;
        assert_eq!(api["MCP_OPENAPI"].given.text, "a.json");
        assert_eq!(api["MCP_READ_ONLY"].given.text, "true");
        assert_eq!(api["MCP_HEADER"].given.text, "X-A: 1\nX-B: 2");
        assert!(api["MCP_HEADER"].secret && !api["MCP_OPENAPI"].secret);
        assert_eq!(
            (tables.flows[0].from.text.as_str(), tables.flows[0].to.text.as_str()),
            ("a", "b")
        );
    }

    #[test]
    fn an_unknown_key_is_an_error_with_its_place_and_the_nearest_right_one() {
        let api = "[[api]]\nprofile = \"sentry\"\n";
        let cases = [
            (
                format!("{api}  base_ur = \"x\""),
                "c.toml:3:3: `base_ur` is not a key of `[[api]]`\n  hint: did you mean `base_url`?",
            ),
            (
                format!("{api}openapi = \"x\""),
                "c.toml:3:1: `openapi` is not a key of `[[api]]`\n  hint: in a file it is `document`",
            ),
            (
                format!("{api}wall = 5"),
                "c.toml:3:1: `wall` is not a key of `[[api]]`\n  hint: `wall` stands under `[limits]`",
            ),
            (
                "base_url = \"x\"".to_owned(),
                "c.toml:1:1: `base_url` is not a key of the top of the file\n  hint: `base_url` stands under `[[api]]`",
            ),
            (
                "[limit]\nwall = 5".to_owned(),
                "c.toml:1:2: `limit` is not a key of the top of the file\n  hint: did you mean `limits`?",
            ),
            (
                "[[flow]]\nform = \"a\"".to_owned(),
                "c.toml:2:1: `form` is not a key of `[[flow]]`\n  hint: its keys are `from` and `to`",
            ),
            (
                "zzzzzzzzzz = 1".to_owned(),
                "c.toml:1:1: `zzzzzzzzzz` is not a key of the top of the file\n  hint: `mcp-stdio --help`",
            ),
        ];
        for (text, expected) in cases {
            let error = fails(&text);
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn a_value_of_the_wrong_type_or_text_that_is_no_toml_is_named_by_its_place() {
        let cases = [
            (
                "read_only = \"yes\"",
                "c.toml:1:13: `read_only` is of type string\n  hint: use true or false",
            ),
            ("allow = [1]", "c.toml:1:10: `allow` is of type integer"),
            (
                "allow = [\"a\\nb\"]",
                "c.toml:1:10: `allow` is of type string\n  hint: use text without line breaks",
            ),
            ("confirm = true", "c.toml:1:11: `confirm` is of type boolean"),
            ("[api]\nname = \"x\"", "c.toml:1:2: `api` is not a list of tables"),
            (
                "[[api]]\nname = \"x\"",
                "c.toml:2:1: this `[[api]]` has neither `profile` nor `document`",
            ),
            ("[[flow]]\nfrom = \"x\"", "c.toml:1:1: this `[[flow]]` has not both"),
            ("confirm = \"a\"\nconfirm = \"b\"", "c.toml:2:1: "),
            ("ä = [", "c.toml:1:"),
        ];
        for (text, expected) in cases {
            let error = fails(text);
            assert!(error.starts_with(expected), "{error}");
            assert!(error.contains("\n  hint: "), "{error}");
        }
    }

    #[test]
    fn words_that_differ_in_few_letters_are_near() {
        assert_eq!(distance("base_ur", "base_url"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("token", "tokne"), 2);
    }
}
