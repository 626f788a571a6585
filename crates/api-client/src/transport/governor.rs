//! Rate limits that all calls of one caller to one origin share: who was told to wait, and who has to.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use url::Url;

use super::budget::{Budget, Told};
use super::retry::jitter;
use crate::auth::Credential;

/// Keeps what servers told, by origin and caller.
#[derive(Default)]
pub(super) struct Governor {
    random: RandomState,
    accounts: Mutex<HashMap<Account, Book>>,
}

/// One caller at one origin.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Account {
    origin: String,
    caller: u64,
}

#[derive(Debug, Default)]
struct Book {
    /// By resource; one without a name covers all calls for which no other is known.
    windows: HashMap<Option<String>, Window>,
    /// Which named resource a route was last counted under.
    routes: HashMap<String, String>,
}

#[derive(Debug, Default)]
struct Window {
    limit: Option<u64>,
    remaining: Option<u64>,
    reset: Option<Instant>,
    /// Until when the server refuses, in its own words.
    closed: Option<Instant>,
}

/// What a call has to do before it is sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Now,
    After(Duration),
    /// The wait goes beyond the call's time.
    TooLate(Duration),
}

/// The longest time for which a server's refusal counts; after it, a call finds out anew.
const LONGEST_CLOSED: Duration = Duration::from_secs(300);

/// For how long calls are held after a refusal that gives no time.
const SHORTEST_CLOSED: Duration = Duration::from_millis(200);

/// The longest random delay on top of a wait.
const LONGEST_SPREAD: Duration = Duration::from_secs(1);

/// How many callers are kept in mind; beyond it, those without a limit in force are forgotten.
const CALLERS: usize = 1024;

impl Governor {
    pub(super) fn account(&self, base: &Url, credential: &Credential) -> Account {
        let mut hasher = self.random.build_hasher();
        credential.identify(&mut hasher);
        let caller = std::hash::Hasher::finish(&hasher);
        Account { origin: base.origin().ascii_serialization(), caller }
    }

    /// Tells a call when it may be sent, and counts it where it may at once.
    pub(super) fn turn(&self, account: &Account, route: &str, deadline: Instant) -> Turn {
        let now = Instant::now();
        let mut books = self.lock();
        let Some(book) = books.get_mut(account) else { return Turn::Now };
        let resource = book.routes.get(route).cloned();
        let Some(window) = book.windows.get_mut(&resource) else { return Turn::Now };
        if let Some(wait) = window.closed.and_then(|it| it.checked_duration_since(now)) {
            return match spread(wait) {
                later if now + later < deadline => Turn::After(later),
                _ => Turn::TooLate(wait),
            };
        }
        let Some(wait) = window.reset.and_then(|it| it.checked_duration_since(now)) else {
            // What is left of a window that has ended says nothing.
            window.remaining = None;
            return Turn::Now;
        };
        match &mut window.remaining {
            // Where waiting does not help, the server's own answer says more than ours.
            Some(0) => match spread(wait) {
                later if now + later < deadline => Turn::After(later),
                _ => Turn::Now,
            },
            Some(remaining) => {
                *remaining -= 1;
                Turn::Now
            }
            None => Turn::Now,
        }
    }

    /// Notes what an answer says; `refused` is the wait it asks for, if it refuses for the rate.
    pub(super) fn note(
        &self,
        account: &Account,
        route: &str,
        told: Told,
        refused: Option<Option<Duration>>,
    ) {
        let Told { resource, limit, remaining, reset } = told;
        if limit.is_none() && remaining.is_none() && refused.is_none() {
            return;
        }
        let now = Instant::now();
        let mut books = self.lock();
        if books.len() >= CALLERS && !books.contains_key(account) {
            books.retain(|_, book| book.windows.values().any(|it| it.closed > Some(now)));
        }
        let book = books.entry(account.clone()).or_default();
        match &resource {
            Some(resource) => drop(book.routes.insert(route.to_owned(), resource.clone())),
            None => drop(book.routes.remove(route)),
        }
        let window = book.windows.entry(resource).or_default();
        window.limit = limit.or(window.limit);
        if remaining.is_some() {
            window.remaining = remaining;
            window.reset = reset.and_then(|it| now.checked_add(it));
        }
        if let Some(wait) = refused {
            let wait = wait.or(reset).unwrap_or(SHORTEST_CLOSED).min(LONGEST_CLOSED);
            window.closed = window.closed.max(Some(now + wait));
        }
    }

    /// What is known of a caller's budgets.
    pub(super) fn budgets(&self, account: &Account) -> Vec<Budget> {
        let now = Instant::now();
        let books = self.lock();
        let Some(book) = books.get(account) else { return Vec::new() };
        let budget = |(resource, window): (&Option<String>, &Window)| {
            let closed = window.closed.and_then(|it| it.checked_duration_since(now));
            let reset = window.reset.and_then(|it| it.checked_duration_since(now));
            Budget {
                origin: account.origin.clone(),
                resource: resource.clone(),
                limit: window.limit,
                remaining: match (closed, reset) {
                    (Some(_), _) => Some(0),
                    // A window that has ended is full again.
                    (None, None) if window.reset.is_some() => window.limit,
                    (None, _) => window.remaining,
                },
                reset: closed.or(reset),
            }
        };
        let mut budgets: Vec<Budget> = book.windows.iter().map(budget).collect();
        budgets.sort_by(|a, b| a.resource.cmp(&b.resource));
        budgets
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Account, Book>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wait and a random part of it more, so that those who wait for one moment do not come together.
fn spread(wait: Duration) -> Duration {
    wait + jitter((wait / 4).min(LONGEST_SPREAD))
}

#[cfg(test)]
mod tests {
    use crate::auth::SecretSource;

    use super::*;

    const ROUTE: &str = "GET /users";

    fn told(remaining: u64, reset: u64) -> Told {
        Told {
            resource: None,
            limit: Some(10),
            remaining: Some(remaining),
            reset: Some(Duration::from_secs(reset)),
        }
    }

    fn account(governor: &Governor, token: &str) -> Account {
        let base = Url::parse("https://api.test/v1").unwrap();
        let source = SecretSource::literal("TOKEN", token).unwrap();
        governor.account(&base, &Credential::Bearer(source))
    }

    fn within(seconds: u64) -> Instant {
        Instant::now() + Duration::from_secs(seconds)
    }

    #[test]
    fn calls_share_what_is_left_and_wait_for_the_reset() {
        let governor = Governor::default();
        let one = account(&governor, "token-one");
        governor.note(&one, ROUTE, told(2, 20), None);
        let turns: Vec<_> = (0..3).map(|_| governor.turn(&one, ROUTE, within(60))).collect();
        assert_eq!(turns.first(), Some(&Turn::Now));
        assert_eq!(turns.get(1), Some(&Turn::Now));
        assert!(matches!(turns.get(2), Some(Turn::After(it)) if *it > Duration::from_secs(19)));
        assert_eq!(governor.turn(&one, ROUTE, within(5)), Turn::Now, "the server is asked");
        assert_eq!(governor.turn(&account(&governor, "token-two"), ROUTE, within(60)), Turn::Now);
    }

    #[test]
    fn a_refusal_holds_everybody_and_what_cannot_wait_is_not_sent() {
        let governor = Governor::default();
        let one = account(&governor, "token-one");
        governor.note(&one, ROUTE, Told::default(), Some(Some(Duration::from_secs(20))));
        assert!(matches!(governor.turn(&one, "POST /other", within(60)), Turn::After(_)));
        assert!(matches!(governor.turn(&one, ROUTE, within(5)), Turn::TooLate(_)));
        let [budget] = &governor.budgets(&one)[..] else { panic!() };
        assert_eq!((budget.remaining, budget.limit), (Some(0), None));
        assert!(budget.reset > Some(Duration::from_secs(19)));
    }

    #[test]
    fn a_refusal_never_holds_for_long_on_the_servers_word_alone() {
        let governor = Governor::default();
        let one = account(&governor, "token-one");
        governor.note(&one, ROUTE, Told::default(), Some(Some(Duration::MAX)));
        let Turn::TooLate(wait) = governor.turn(&one, ROUTE, within(5)) else { panic!() };
        assert!(wait <= LONGEST_CLOSED);
    }

    #[test]
    fn named_resources_are_counted_apart() {
        let governor = Governor::default();
        let one = account(&governor, "token-one");
        let search = Told { resource: Some("search".to_owned()), ..told(0, 20) };
        governor.note(&one, "GET /search", search, None);
        governor.note(&one, ROUTE, Told { resource: Some("core".to_owned()), ..told(9, 20) }, None);
        assert!(matches!(governor.turn(&one, "GET /search", within(60)), Turn::After(_)));
        assert_eq!(governor.turn(&one, ROUTE, within(60)), Turn::Now);
        assert_eq!(governor.turn(&one, "GET /unknown", within(60)), Turn::Now);
        let names: Vec<_> = governor.budgets(&one).into_iter().map(|it| it.resource).collect();
        assert_eq!(names, [Some("core".to_owned()), Some("search".to_owned())]);
    }
}
