//! Refuses what would make a recursive parser overflow its stack or backtrack without end.
//!
//! Nothing can stop the parser once it runs, so the bound comes from a scan before it. The scan
//! never thinks code flatter than it is: where it cannot tell a regular expression from a division,
//! all that follows counts as nested. What the parser makes of broken code, the stack has room for.

/// Highest load: 250 nested brackets, a chain of 1,000 operators, or a mixture.
const LIMIT: u32 = 1_000;
/// Most of all loads together, token by token: what is tried again and again costs time wherever it is
/// deep. Minified libraries have about 25 a byte, and 250 kB of one pass.
const WORK: u64 = 8_000_000;
/// A bracket.
const BRACKET: u32 = 4;
/// A `?`: conditionals nest to the right, and the parser tries their branches twice.
const CONDITIONAL: u32 = 4;
/// A `=>`: heads of arrow functions are tried before they are known to be ones.
const ARROW: u32 = 16;
/// An open `<`: it may begin type arguments, which are tried to their end.
const ANGLE: u32 = 40;
/// A bracket behind an open `<`: each doubles the parser's work.
const BRACKET_IN_ANGLE: u32 = 160;

/// What is too much for the parser, and where.
#[derive(Debug, PartialEq)]
pub(super) enum Excess {
    Depth { at: usize },
    Work { at: usize },
}

/// How deep a script nests, or what is too much of it.
pub(super) fn load(source: &str) -> Result<u32, Excess> {
    let mut scan = Scan::new(source);
    let mut highest = 0;
    let mut work = 0_u64;
    while scan.step() {
        highest = highest.max(scan.load);
        work += u64::from(scan.load);
        let at = scan.at.min(source.len());
        if highest > LIMIT {
            return Err(Excess::Depth { at });
        }
        if work > WORK {
            return Err(Excess::Work { at });
        }
    }
    Ok(highest)
}

#[derive(Clone, Copy, PartialEq)]
enum Previous {
    /// A value ended here.
    Operand,
    /// A value must follow.
    Operator,
    /// A `}` or `>`: either.
    Either,
    /// A `.`: a name follows.
    Dot,
    /// `if`, `for`, ….
    Control,
}

/// What lies between an open bracket and its end.
struct Level {
    template: bool,
    control: bool,
    weight: u32,
    /// Load of the operators since the last expression or statement ended.
    chain: u32,
    /// The chain before it was reset, for `else` and `while` go on with it.
    earlier: u32,
    angles: u32,
}

/// Words that leave an expression or statement open, so that what follows nests in it.
#[rustfmt::skip]
fn opens(word: &str) -> bool {
    matches!(
        word,
        "as" | "asserts" | "await" | "case" | "default" | "delete" | "do" | "else" | "extends"
            | "implements" | "in" | "infer" | "instanceof" | "is" | "keyof" | "new" | "of"
            | "readonly" | "return" | "satisfies" | "static" | "throw" | "typeof" | "unique"
            | "void" | "yield"
    )
}

/// Words that go on with the statement before them, also on a new line.
#[rustfmt::skip]
fn continues(word: &str) -> bool {
    matches!(
        word,
        "as" | "else" | "extends" | "implements" | "in" | "instanceof" | "is" | "of" | "satisfies"
            | "while"
    )
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    levels: Vec<Level>,
    load: u32,
    previous: Previous,
    /// A line ended since the previous token.
    newline: bool,
    /// Code can no longer be told from text: all of it counts, and nothing closes.
    lost: bool,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        let mut scan = Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            levels: Vec::new(),
            load: 0,
            previous: Previous::Operator,
            newline: false,
            lost: false,
        };
        scan.open(false);
        if text.starts_with("#!") {
            scan.line_comment();
        }
        scan
    }

    /// Reads one token; `false` at the end.
    fn step(&mut self) -> bool {
        let Some(&byte) = self.bytes.get(self.at) else { return false };
        match byte {
            b'\n' | b'\r' => {
                self.newline = true;
                self.at += 1;
            }
            b' ' | b'\t' | 0x0b | 0x0c => self.at += 1,
            b'/' | b'"' | b'\'' | b'`' if self.lost => {
                self.link(1);
                self.at += 1;
            }
            b'/' if self.peek(1) == b'/' => self.line_comment(),
            b'/' if self.peek(1) == b'*' => self.block_comment(),
            b'/' => self.slash(),
            b'"' | b'\'' => {
                self.start_operand("");
                self.string(byte);
                self.after(Previous::Operand);
            }
            b'`' => {
                self.link(1);
                self.template();
            }
            b'(' | b'[' | b'{' => {
                self.open(false);
                self.at += 1;
                self.after(Previous::Operator);
            }
            b')' | b']' | b'}' => self.close(byte),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' | b'#' | b'\\' => {
                self.word();
            }
            0x80.. => self.wide(),
            _ => self.operator(byte),
        }
        true
    }

    fn peek(&self, offset: usize) -> u8 {
        self.bytes.get(self.at + offset).copied().unwrap_or(0)
    }

    fn after(&mut self, token: Previous) {
        self.previous = token;
        self.newline = false;
    }

    fn open(&mut self, template: bool) {
        let in_angle = self.levels.last().is_some_and(|level| level.angles > 0);
        let weight = if in_angle { BRACKET_IN_ANGLE } else { BRACKET };
        self.load += weight;
        self.levels.push(Level {
            template,
            control: self.previous == Previous::Control,
            weight,
            chain: 0,
            earlier: 0,
            angles: 0,
        });
    }

    fn close(&mut self, byte: u8) {
        self.at += 1;
        if self.lost || self.levels.len() < 2 {
            return self.after(Previous::Either);
        }
        self.end_statement();
        let Some(level) = self.levels.pop() else { return };
        self.load = self.load.saturating_sub(level.weight);
        if level.template {
            return self.template_rest();
        }
        // `f()()` and `a[0][1]` are chains of their own.
        self.link(1);
        self.after(match byte {
            b'}' => Previous::Either,
            _ if level.control => Previous::Operator,
            _ => Previous::Operand,
        });
    }

    fn link(&mut self, weight: u32) {
        if let Some(level) = self.levels.last_mut() {
            level.chain += weight;
            self.load += weight;
        }
    }

    fn end_expression(&mut self) {
        if self.lost {
            return;
        }
        if let Some(level) = self.levels.last_mut() {
            self.load = self.load.saturating_sub(level.chain);
            level.earlier = std::mem::take(&mut level.chain);
        }
    }

    fn end_statement(&mut self) {
        self.end_expression();
        self.close_angles(u32::MAX);
    }

    fn close_angles(&mut self, count: u32) {
        if self.lost {
            return;
        }
        if let Some(level) = self.levels.last_mut() {
            let closed = level.angles.min(count);
            level.angles -= closed;
            self.load = self.load.saturating_sub(closed * ANGLE);
        }
    }

    /// A value begins: on a new line behind another value it begins a statement.
    fn start_operand(&mut self, word: &str) {
        let ended = matches!(self.previous, Previous::Operand | Previous::Either);
        if self.newline && ended && !continues(word) {
            self.end_statement();
        }
    }

    fn word(&mut self) {
        let start = self.at;
        let number = self.bytes[start].is_ascii_digit();
        let inside = |byte: &&u8| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'_' | b'$' | b'#' | b'\\')
                || (number && **byte == b'.')
        };
        self.at += self.bytes[start..].iter().take_while(inside).count();
        let word = &self.text[start..self.at];
        if self.previous == Previous::Dot {
            return self.after(Previous::Operand);
        }
        self.start_operand(word);
        if matches!(word, "else" | "while")
            && let Some(level) = self.levels.last_mut()
        {
            self.load += level.earlier;
            level.chain += std::mem::take(&mut level.earlier);
        }
        if matches!(word, "for" | "if" | "while" | "with") {
            self.link(1);
            self.after(Previous::Control);
        } else if word == "await" && self.previous == Previous::Control {
            self.newline = false;
        } else if opens(word) {
            self.link(1);
            self.after(Previous::Operator);
        } else {
            self.after(Previous::Operand);
        }
    }

    /// A character beyond ASCII: a letter, a space or the end of a line.
    fn wide(&mut self) {
        let Some(c) = self.text.get(self.at..).and_then(|rest| rest.chars().next()) else {
            self.at += 1;
            return;
        };
        self.at += c.len_utf8();
        match c {
            '\u{2028}' | '\u{2029}' => self.newline = true,
            '\u{feff}' => {}
            _ if c.is_whitespace() => {}
            _ => {
                self.start_operand("");
                self.after(Previous::Operand);
            }
        }
    }

    fn operator(&mut self, byte: u8) {
        let next = self.peek(1);
        let postfix = self.previous == Previous::Operand && !self.newline;
        let (width, weight, token) = match (byte, next) {
            (b';', _) => {
                self.end_statement();
                (1, 0, Previous::Operator)
            }
            (b',', _) => {
                self.end_expression();
                (1, 0, Previous::Operator)
            }
            (b'.', b'0'..=b'9') => (1, 0, Previous::Operator),
            (b'.', b'.') => (1, 1, Previous::Operator),
            (b'.', _) => {
                let spread = self.at > 0 && self.bytes[self.at - 1] == b'.';
                (1, 1, if spread { Previous::Operator } else { Previous::Dot })
            }
            (b'?', b'.') if !self.peek(2).is_ascii_digit() => (2, 1, Previous::Dot),
            (b'?', b'?') | (b'&', b'&') | (b'|', b'|') => {
                self.close_angles(u32::MAX);
                (2, 1, Previous::Operator)
            }
            (b'?', _) => (1, CONDITIONAL, Previous::Operator),
            (b'=', b'>') => (2, ARROW, Previous::Operator),
            (b'<', _) => {
                // `<!--` begins a comment in old scripts.
                self.lost |= next == b'!';
                if let Some(level) = self.levels.last_mut() {
                    level.angles += 1;
                    self.load += ANGLE;
                }
                (1, 1, Previous::Operator)
            }
            (b'>', _) => {
                self.close_angles(1);
                (1, 1, Previous::Either)
            }
            (b'+', b'+') | (b'-', b'-') if postfix => (2, 1, Previous::Operand),
            (b'-', b'-') if self.peek(2) == b'>' => {
                self.lost = true;
                (3, 1, Previous::Operator)
            }
            (b'!', other) if postfix && other != b'=' => (1, 1, Previous::Operand),
            _ => (1, 1, Previous::Operator),
        };
        self.link(weight);
        self.at += width;
        self.after(token);
    }

    fn slash(&mut self) {
        match self.previous {
            Previous::Operand if !self.newline => {}
            Previous::Operator => return self.regular_expression(),
            Previous::Operand | Previous::Either | Previous::Dot | Previous::Control => {
                self.lost = true;
            }
        }
        self.link(1);
        self.at += 1;
        self.after(Previous::Operator);
    }

    fn regular_expression(&mut self) {
        let mut class = false;
        self.at += 1;
        loop {
            match self.peek(0) {
                b'\\' => self.at += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => break,
                b'\n' | b'\r' | 0 => {
                    self.lost = true;
                    return self.after(Previous::Operand);
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at += 1;
        self.after(Previous::Operand);
    }

    fn string(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' if self.bytes[self.at..].starts_with(b"\r\n") => self.at += 2,
                b'\\' => self.at += 1,
                b'\n' | b'\r' => {
                    self.lost = true;
                    return;
                }
                _ if byte == quote => return,
                _ => {}
            }
        }
    }

    fn template(&mut self) {
        self.at += 1;
        self.template_rest();
    }

    /// The text of a template up to its end or the next `${`.
    fn template_rest(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'`' => return self.after(Previous::Operand),
                b'$' if self.peek(0) == b'{' => {
                    self.open(true);
                    self.at += 1;
                    return self.after(Previous::Operator);
                }
                _ => {}
            }
        }
    }

    fn line_comment(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            let separator = self.bytes[self.at..].starts_with(b"\xe2\x80\xa8")
                || self.bytes[self.at..].starts_with(b"\xe2\x80\xa9");
            if matches!(byte, b'\n' | b'\r') || separator {
                return;
            }
            self.at += 1;
        }
    }

    fn block_comment(&mut self) {
        self.at += 2;
        while self.at < self.bytes.len() && !self.bytes[self.at..].starts_with(b"*/") {
            self.newline |= matches!(self.bytes[self.at], b'\n' | b'\r');
            self.at += 1;
        }
        self.at += 2;
    }
}

#[cfg(test)]
mod tests;
