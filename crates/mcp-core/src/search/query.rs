//! Reads a question: its words and their parts in it, what its verb intends, its filters.

use super::index::Method;
use super::thesaurus::{self, Intent};
use super::tokenize;

/// Bytes of a question that are read.
const MAX_BYTES: usize = 2_000;
/// Words of a question that are ranked with; a set of them fits the masks of `rank.rs`.
const MAX_WORDS: usize = 30;

/// A question, understood.
#[derive(Debug, Clone, Default)]
pub(super) struct Query {
    pub(super) words: Vec<Word>,
    /// Empty when no verb says what is wanted.
    pub(super) intents: Vec<Intent>,
    pub(super) filters: Vec<Filter>,
}

/// A word to look for.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) stem: String,
    pub(super) role: Role,
}

/// What a word does in a question: "*create* an *access token* for a *user*".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Verb,
    /// What is asked for.
    Head,
    /// After a preposition: where it is, whose it is.
    Detail,
    /// The state it is in: "*open* issues".
    State,
    /// What is asked for is a person, a place, a time: "*who* has access".
    Question,
}

/// What every hit must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Filter {
    /// Stems that must all be in its tags.
    Tag(Vec<String>),
    Method(Method),
}

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        let text = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or(text);
        let (filters, text) = take_filters(text);
        let mut query = Self { filters, ..Self::default() };
        // "block a sender: add a rule", "create a source (google)"
        for clause in text.split_inclusive([':', ';', ',', '/', '(', ')', '|', '\n']) {
            let mut words = Vec::new();
            tokenize::words(clause, |word| words.push(word.to_owned()));
            let mut sentence = Sentence::new(words);
            sentence.replace_phrases();
            sentence.read(&mut query);
        }
        query
    }

    /// Whether it is about a value of something that exists.
    pub(super) fn wants_change(&self) -> bool {
        self.intents.iter().any(|intent| matches!(intent, Intent::Update | Intent::Switch))
    }
}

/// Takes `tag:x`, `tag:"x y"` and `method:x` out of a question.
fn take_filters(text: &str) -> (Vec<Filter>, String) {
    let mut filters = Vec::new();
    let mut words = String::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (piece, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let (filter, after) = match piece.split_once(':') {
            Some((key, value)) if key.eq_ignore_ascii_case("tag") && !value.is_empty() => {
                let quoted = rest.split_once(":\"").and_then(|it| it.1.split_once('"'));
                let quoted = quoted.filter(|_| value.starts_with('"'));
                let (tag, after) = quoted.unwrap_or((value, after));
                (Some(Filter::tag(tag)), after)
            }
            Some((key, value)) if key.eq_ignore_ascii_case("method") => {
                let method = Method::parse(value);
                ((method != Method::Other).then_some(Filter::Method(method)), after)
            }
            _ => (None, after),
        };
        match filter {
            Some(filter) => filters.push(filter),
            None => words.extend([piece, " "]),
        }
        rest = after.trim_start();
    }
    (filters, words)
}

impl Filter {
    fn tag(name: &str) -> Self {
        let mut stems = Vec::new();
        tokenize::words(name, |word| {
            if !tokenize::is_stop_word(word) {
                stems.push(tokenize::stem(word).into_owned());
            }
        });
        Self::Tag(stems)
    }
}

/// The words of a question in order, stop words included.
struct Sentence {
    words: Vec<String>,
    stems: Vec<String>,
}

impl Sentence {
    fn new(words: Vec<String>) -> Self {
        let stems = words.iter().map(|word| tokenize::stem(word).into_owned()).collect();
        Self { words, stems }
    }

    fn replace_phrases(&mut self) {
        let mut at = 0;
        while at < self.words.len() {
            let phrase = thesaurus::phrase(self.stems.get(at..).unwrap_or_default());
            let Some((taken, meaning)) = phrase else {
                at += 1;
                continue;
            };
            for position in taken.into_iter().rev() {
                self.words.remove(at + position);
                self.stems.remove(at + position);
            }
            let words: Vec<_> = meaning.split(' ').map(str::to_owned).collect();
            let stems = words.iter().map(|word| tokenize::stem(word).into_owned());
            self.stems.splice(at..=at, stems.collect::<Vec<_>>());
            let count = words.len();
            self.words.splice(at..=at, words);
            at += count;
        }
    }

    fn read(self, query: &mut Query) {
        let (verbs, first_noun) = self.verbs();
        let mut role = Role::Head;
        let mut last_head = None;
        let mut intents: Vec<Intent> =
            verbs.iter().flat_map(|&at| self.intents(at)).copied().collect();
        if intents.is_empty() && self.asks() {
            intents.push(Intent::Read);
        }
        for (at, (word, stem)) in self.words.iter().zip(&self.stems).enumerate() {
            let is_verb = verbs.contains(&at);
            let boundary = is_in(PREPOSITIONS, word)
                || self.is_one_of(0, "which what") && is_in(AUXILIARIES, word);
            if at >= first_noun && boundary && last_head.is_some() {
                role = Role::Detail;
            }
            let is_known = query.words.iter().any(|known| known.stem == *stem);
            let is_filler = tokenize::is_stop_word(word) || is_in(PREPOSITIONS, word);
            if is_filler || is_known || query.words.len() == MAX_WORDS {
                continue;
            }
            let role = match role {
                _ if is_verb => Role::Verb,
                _ if is_in(QUESTIONS, word) => Role::Question,
                _ if is_in(STATES, word) => Role::State,
                role => role,
            };
            if role == Role::Head {
                last_head = Some(word);
            }
            query.words.push(Word { text: word.clone(), stem: stem.clone(), role });
        }
        let many = last_head.is_some_and(|head| is_plural(head));
        query.intents.extend(
            intents
                .into_iter()
                .map(|intent| if intent == Intent::Read && many { Intent::List } else { intent }),
        );
    }

    /// Positions of the verbs that say what is wanted, and of the first word after them.
    fn verbs(&self) -> (Vec<usize>, usize) {
        let start = self.words.iter().position(|word| !is_in(LEAD_IN, word));
        let Some(start) = start else { return (Vec::new(), 0) };
        let mut verbs = Vec::new();
        let mut at = start;
        while self.is_verb(at, verbs.is_empty()) {
            verbs.push(at);
            at += 1;
            if self.is_one_of(at, "or and then") && self.is_verb(at + 1, true) {
                at += 1;
            }
        }
        if verbs.is_empty() {
            // "audit log search"
            let last = self.words.len().saturating_sub(1);
            let stem = self.stems.get(last).map_or("", String::as_str);
            if last > start && is_in(TRAILING, stem) {
                verbs.push(last);
            }
            return (verbs, start);
        }
        (verbs, at)
    }

    fn is_verb(&self, at: usize, first: bool) -> bool {
        let Some(word) = self.words.get(at) else { return false };
        if self.intents(at).is_empty() {
            return false;
        }
        // "star a repository" and "comment on it", but "star count", "comment author" and "files".
        self.is_one_of(at + 1, DETERMINERS)
            || first
                && !is_plural(word)
                && (!is_in(NOUNS_TOO, word) || self.is_one_of(at + 1, "on to with and or"))
    }

    fn intents(&self, at: usize) -> &'static [Intent] {
        self.stems.get(at).map_or(&[], |stem| thesaurus::intents(stem))
    }

    fn is_one_of(&self, at: usize, list: &str) -> bool {
        self.words.get(at).is_some_and(|word| is_in(list, word))
    }

    fn asks(&self) -> bool {
        self.is_one_of(0, QUESTIONS)
    }
}

fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|it| it == word)
}

fn is_plural(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !["ss", "us", "is"].iter().any(|it| word.ends_with(it))
}

/// What may come before the verb: "how do I …".
const LEAD_IN: &str = "\
    how i do to we you can could should would want need please like let try help and then now ll";
const QUESTIONS: &str = "\
    which what who whose whom where when why is are does did has have was were will";
/// What shows that the word before is a verb.
const DETERMINERS: &str = "\
    a an the my our your this that these those all every each any some its their his her one \
    someone new existing single multiple several specific another";
const PREPOSITIONS: &str = "\
    of for in on to from with by at under within into onto about as via using per across between \
    without against during after before that where when if so belonging inside outside";
/// What ends the object of "which" and "what": "which devices does a user have".
const AUXILIARIES: &str = "does do did has have is are can";
/// What a list is narrowed to more often than what it is called.
const STATES: &str = "\
    active archived cancelled closed completed current deleted disabled draft enabled existing \
    expired failed failing finished inactive latest merged open overdue own paid past pending \
    queued recent resolved running stale successful unpaid unread unresolved unused upcoming \
    used";
/// Stems of verbs that may close a question made of nouns.
const TRAILING: &str = "list search creat updat delet remov lookup";
/// Verbs that as a first word are as often a noun.
const NOUNS_TOO: &str = "\
    access alert archive ban block book charge check comment diff file filter fork grant import \
    invite issue label link lock login logout monitor order page patch payout pin post process \
    query queue record refund release reply report request rollback run schedule setup share \
    star tag test transfer trigger view vote";

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(text: &str) -> String {
        let query = Query::parse(text);
        let words = query.words.iter().map(|word| format!("{}={:?}", word.text, word.role));
        words.collect::<Vec<_>>().join(" ")
    }

    fn intents(text: &str) -> Vec<Intent> {
        Query::parse(text).intents
    }

    #[test]
    fn what_is_asked_for_stands_between_verb_and_preposition() {
        assert_eq!(
            roles("How do I list the open issues of a repo?"),
            "list=Verb open=State issues=Head repo=Detail"
        );
        assert_eq!(
            roles("which MFA devices does a user have"),
            "mfa=Head devices=Head user=Detail"
        );
        assert_eq!(roles("who has access"), "who=Question access=Head");
    }

    #[test]
    fn a_word_that_may_be_a_noun_is_a_verb_before_a_determiner() {
        assert_eq!(intents("star a repository"), [Intent::Act]);
        assert_eq!(intents("star count"), []);
        assert_eq!(intents("comment on an issue"), [Intent::Act]);
        assert_eq!(intents("comment author"), []);
        assert_eq!(intents("files in a store"), []);
    }

    #[test]
    fn verbs_say_what_is_wanted() {
        for (text, expected) in [
            ("delete the branch", vec![Intent::Delete]),
            ("create or update a file", vec![Intent::Create, Intent::Update]),
            ("mute / delete a monitor", vec![Intent::Switch, Intent::Delete]),
            ("get projects", vec![Intent::List]),
            ("get a project", vec![Intent::Read]),
            ("audit log search", vec![Intent::List]),
            ("what teams exist", vec![Intent::List]),
            ("turn off two factor", vec![Intent::Switch]),
            ("log a user out", vec![Intent::Undo]),
            ("crash rate", vec![]),
        ] {
            assert_eq!(intents(text), expected, "{text}");
        }
    }

    #[test]
    fn each_clause_has_verbs_of_its_own() {
        assert_eq!(
            roles("block a sender: add to list (spam)"),
            "block=Verb sender=Head add=Verb list=Head spam=Head"
        );
    }

    #[test]
    fn filters_are_taken_out_of_the_words() {
        let query = Query::parse("tag:\"User accounts\" list method:GET users tag:core x:y");
        let accounts = vec!["user".to_owned(), "account".to_owned()];
        assert_eq!(
            query.filters,
            [
                Filter::Tag(accounts),
                Filter::Method(Method::Get),
                Filter::Tag(vec!["core".to_owned()])
            ]
        );
        assert_eq!(
            query.words.iter().map(|it| it.text.as_str()).collect::<Vec<_>>(),
            ["list", "users"]
        );
    }

    #[test]
    fn a_flood_of_words_is_cut() {
        let text = (0..5_000).map(|number| format!("word{number} ")).collect::<String>();
        assert_eq!(Query::parse(&text).words.len(), MAX_WORDS);
        assert!(Query::parse(&"é".repeat(10_000)).words.is_empty());
        assert!(Query::parse("tag:\"never closed").filters.len() == 1);
        assert!(Query::parse(" \u{0} :: \" tag: method:brew ").filters.is_empty());
    }
}
