//! The tables of the thesaurus: general vocabulary of HTTP APIs and of those who work with them
//! (identity, issue tracking, CI, payments, cloud, messaging, storage, monitoring, …). Nothing here
//! is written for one document or one question. Entries are separated by commas.

use super::thesaurus::Intent;

/// What verbs want to happen.
pub(super) const INTENTS: [(&str, Intent); 8] = [
    ("list enumerate browse search find query filter count", Intent::List),
    (
        "get read fetch retrieve show view display describe inspect see check look lookup download \
         export preview compare diff know tell understand monitor print return obtain amount",
        Intent::Read,
    ),
    (
        "create add make register generate provision insert post open submit upload import invite \
         publish define save install enroll write record put attach bind associate connect link \
         issue book schedule request setup take perform log configure apply set assign store \
         remember mint file raise",
        Intent::Create,
    ),
    (
        "update edit modify change set rename patch replace configure adjust upgrade downgrade \
         extend increase decrease lower mark customize alter tweak rewrite reassign \
         reconfigure resize scale reorder move toggle make setup save define restrict limit allow \
         put correct fix transition",
        Intent::Update,
    ),
    ("delete remove destroy erase drop wipe purge prune", Intent::Delete),
    (
        "enable activate reactivate disable deactivate suspend unsuspend pause unpause resume \
         archive unarchive close reopen resolve complete finish dismiss ignore mute unmute snooze \
         silence acknowledge ack lock unlock block unblock hide unhide freeze unfreeze protect \
         unprotect pin unpin promote demote",
        Intent::Switch,
    ),
    (
        "approve accept confirm start launch run execute trigger invoke rerun retry restart reboot \
         send resend dispatch merge fork star escalate refund capture finalize pay charge collect \
         verify validate share reset restore recover synchronize refresh rollback revert join \
         follow watch undelete untrash transfer copy clone duplicate impersonate transcribe \
         translate authenticate login grant apply deploy migrate convert calculate compute estimate \
         label tag vote react reply comment notify page test simulate rotate renew regenerate roll \
         queue authorize embed classify process ban reindex rebuild redeploy switch advance \
         payout assign invite publish upload",
        Intent::Act,
    ),
    (
        "revoke cancel abort stop halt terminate kill end kick evict expel detach disconnect unlink \
         unassign unbind dissociate disassociate unsubscribe unfollow unwatch unstar unban leave \
         logout invalidate expire reject deny decline void uninstall unregister deregister uninvite \
         undo flush empty discard withdraw unpublish unshare release",
        Intent::Undo,
    ),
];

/// Verbs of which one undoes the other: an entry named after the wrong one is no answer.
pub(super) const OPPOSITES: &str = "
    add remove, create delete, activate deactivate, enable disable, approve reject, approve deny,
    accept reject, accept decline, allow deny, allow block, archive unarchive, assign unassign,
    associate disassociate, attach detach, block unblock, ban unban, close open, close reopen,
    connect disconnect, decrypt encrypt, download upload, export import, favorite unfavorite,
    follow unfollow, grant revoke, increase decrease, install uninstall, join leave, link unlink,
    lock unlock, login logout, mute unmute, pause resume, pin unpin, promote demote,
    protect unprotect, publish unpublish, register unregister, start stop, subscribe unsubscribe,
    suspend unsuspend, watch unwatch
";

/// Stems of words that say "thing" without saying which.
pub(super) const GENERIC: [&str; 17] = [
    "all", "api", "by", "collect", "data", "detail", "element", "entiti", "entri", "id", "inform",
    "instanc", "item", "list", "object", "record", "resourc",
];

/// Phrases, and the words they stand for. The longest match wins.
pub(super) const PHRASES: &str = "
    2 factor: mfa, 2fa: mfa, am i: me current, api key: apikey key,
    authenticated user: me authenticated user, back trace: stacktrace, back up: backup,
    bring back: restore, bring up: start, check in: checkin, check out: checkout, clean up: prune,
    clear out: clear, credit card: card, current user: me current user, debit card: card,
    direct message: dm message, do not disturb: dnd, end point: endpoint,
    env var: environment variable, fetch all: list, fill in: submit, fire off: trigger,
    free busy: freebusy availability, get all: list, get every: list, get rid of: delete,
    give me: get, hand off: transfer, hand over: transfer, how many: count, how much: amount,
    identity provider: idp, k8s: kubernetes, kick off: trigger, kick out: kick, list of: list,
    load balancer: loadbalancer balancer, lock down: protect, lock out: lock,
    log hours: worklog time, log in: login, log into: login, log off: logout, log on: login,
    log out: logout, log time: worklog time, log work: worklog, logged in as: me current,
    look for: find, look up: lookup, make a copy: copy, make copy: copy, mark as read: mark read,
    money back: refund, move to trash: trash delete, mr: merge request, multi factor: mfa,
    multi factor authentication: mfa, number of: count, on call: oncall, one time code: totp,
    one time password: totp, opt in: subscribe, opt out: unsubscribe, pay back: refund,
    pay out: payout, power off: shutdown, power on: start, pr: pull, pull request: pull,
    put on hold: pause, re run: rerun, retrieve all: list, roll back: rollback, roll out: rollout,
    run again: rerun, second factor: mfa, see all: list, send again: resend,
    set default: default update, set up: create, show all: list, show me: show,
    shut down: shutdown, shut off: disable, sign in: login, sign into: login, sign off: approve,
    sign out: logout, sign up: register, single sign on: sso, speech into text: transcription,
    speech to text: transcription, spin up: create, stack trace: stacktrace, start again: restart,
    start over: restart, stop following: unfollow, stop receiving: unsubscribe,
    stop watching: unwatch, switch off: disable, switch on: enable, take down: delete,
    tear down: delete, tell me: get, text into speech: speech, text to speech: speech, tfa: mfa,
    throw away: delete, throw out: remove, time series: timeseries, time zone: timezone,
    try again: retry, turn back on: enable, turn off: disable, turn on: enable, two factor: mfa,
    two factor auth: mfa, two factor authentication: mfa, view all: list, virtual machine: vm,
    web hook: webhook, who am i: me current user, work flow: workflow
";

/// Verbs that mean the same when they say what to do.
pub(super) const VERB_SYNONYMS: &str = "
    attach assign, attach link connect associate bind, close resolve complete,
    complete finish done, create add make insert, create generate, create register,
    delete remove destroy erase, find search lookup query, get retrieve read fetch, get show view,
    kick evict expel remove, list index enumerate, run dispatch, run execute trigger invoke,
    send dispatch deliver emit, start begin launch, stop halt terminate kill end, stop shutdown,
    update edit modify change patch, update set replace
";

/// Verbs of which one often stands for the other.
pub(super) const VERB_RELATED: &str = "
    add put, assign add, assign set, attach add, check run, create new post, create open submit,
    create start, list get find, list search, run start, send create post, trigger start,
    update configure, update rename, upload attach create
";

/// Verbs, and what a document may say instead of them.
pub(super) const VERB_TOWARDS: &str = "
    activate enable reactivate unblock: update, approve request reject: review,
    assign reassign escalate: update, charge bill collect: payment invoice,
    close reopen resolve archive unarchive complete finish dismiss ignore: update state,
    deactivate disable suspend: update, detach unlink disconnect unassign: remove delete,
    extend increase decrease raise lower resize scale: update size,
    flush purge prune clear wipe empty: delete, generate: create, give: add assign grant,
    grant: add assign, join: member add, kick evict expel ban throw fire: remove delete,
    leave: member remove, lock: update,
    mark toggle mute snooze silence acknowledge approve: update, mint issue: create token,
    move: update parent transition, ping alive: health status, promote demote: update role,
    publish unpublish: update, pull: create get, read see open: get list,
    reboot restart shutdown resize poweroff snapshot: action, rename: update edit name,
    revoke: delete remove, save store remember: create setup, stop: cancel pause,
    terminate kill: delete destroy, unblock: block delete, uninstall: delete remove,
    unlock: lock delete, unprotect: protection delete remove,
    unstar unlike unfavorite: star delete remove,
    unwatch unfollow unsubscribe: subscription delete remove, upgrade downgrade: update,
    withdraw: payout, write leave: create add post
";

/// Words that mean the same thing.
pub(super) const SYNONYMS: &str = "
    acknowledge ack, active enabled, alert alarm, answer response, apikey key token,
    approval approve, approve accept, assignee assign, attachment attach,
    attendee participant invitee, audience segment, audit log, authentication auth authenticate,
    authorization authz authorize, availability freebusy free, avatar photo picture, balance funds,
    billing payment, branch ref, calculate compute, cart basket, certificate ssl tls,
    channel conversation room, checks ci, combine merge, comment note, commit sha revision,
    configuration settings, configure setup, contact person, copy duplicate clone, cost price,
    cost spend spending, count total number quantity, coupon discount voucher, crash error,
    credential secret, cron schedule scheduled, customer client, deal opportunity, delete trash,
    deploy release, deployment deploy rollout,
    detach unlink disconnect disassociate dissociate unassign unbind, diff compare comparison,
    directory folder, disable deactivate, disk volume, dispute chargeback, dm im, domain hostname,
    download export, email mail, embedding embed vector, emoji reaction, enable activate,
    erase forget, error exception, event activity, experiment variant, favorite star bookmark,
    file blob, file content, fine finetune finetuning, flag feature toggle, group team,
    health status, history activity, idp provider, image picture, impersonate impersonation sudo,
    inactive disabled, incident outage, instance node, integration app, invite invitation,
    invoice bill, issue bug, issue ticket, job build, label tag, language locale, link url,
    list all, loadbalancer lb, log output, login signin, logout signout, me current authenticated,
    me self myself, me whoami, meeting event appointment, member membership, member participant,
    message chat, metric statistics, mfa authenticator, mfa tfa 2fa, moderation moderate,
    monitor check, move relocate transfer, mute silence, mute snooze, notification notify,
    oauth oauth2 oidc, oidc openid, organization company, passkey webauthn fido2 fido,
    password credential, password passphrase, pause suspend, payment charge transaction,
    payment pay, payout withdrawal, permission access, permission acl, permission grant,
    permission privilege right, pipeline build, pipeline workflow, plan price tier,
    plugin extension addon, promotion promo, protect secure, prune purge cleanup, pull pr,
    purge flush clear empty wipe, quota limit, reactivate reenable enable, refund reimburse,
    region location zone, reject deny decline refuse, reply respond response, rerun retry redo,
    restart reboot reload, restore recover undelete, restore unarchive untrash,
    resume unpause unsuspend, revoke invalidate, role permission, rollback revert undo,
    rotate regenerate renew roll, rule policy, runner agent worker, see view, seat license,
    server machine instance vm host, settings preference option, shell exec command, speech audio,
    speech voice, sprint iteration, sso saml, statistics analytics, status ci, status state,
    subscribe watch follow, subscription plan, tax vat, thread replies reply, time hours duration,
    timeseries series, timeseries statistics, token jwt, totp otp,
    transcribe transcription transcript, transition status state, trash trashed deleted,
    unsubscribe unwatch unfollow, upload import, usage consumption, user account, user member,
    user person people, username login, validate verify check, version release, volume storage,
    vote upvote, webhook hook callback, worklog time
";

/// Words of which one often stands for the other.
pub(super) const RELATED: &str = "
    activity log, add invite, alert notification, alert rule, approve review, artifact asset file,
    asset attachment, availability schedule, backup snapshot, block ban deny, cancel delete,
    cancel stop abort, check test, cluster kubernetes, container instance, copy fork,
    dashboard chart graph, disable block suspend, disable disabled inactive, download get content,
    enable enabled active, error issue, expire revoke, follow follower, fund balance money,
    ip address, issue task, key secret, kill cancel stop, lead contact, log event, log trace,
    maintenance downtime, member collaborator, member user, message post, metric usage,
    monitor uptime heartbeat, network vpc, notice message announcement, organization tenant,
    organization workspace, permission role, permission scope, preview dry simulate,
    preview upcoming, price cost, project repository, publish release, reminder notification,
    reset recovery recover, reviewer review, run job, share collaboration permission, share link,
    sso oauth oidc, star stargazer starred, task todo, team workspace, ticket case,
    token key secret, user profile, variable secret, watch subscription, workflow action
";

/// Words, and what a document may say instead of them.
pub(super) const TOWARDS: &str = "
    alert: monitor detector notification, allowed: permission, amount: balance usage cost total, asset: file,
    audit: event history, authenticate: login session token, availability: schedule, bill: invoice,
    binary: file asset, blocker dependency: link, buyer subscriber shopper: customer,
    card: payment, chart graph plot: timeseries stats dashboard, crash: issue event,
    crash exception: event, detector monitor: alert, dns: record domain,
    downtime: maintenance window, duplicate: link, exception: issue event,
    expired overdue unpaid open draft: status, factor: authenticator, firewall: rule,
    forgot forget: reset recovery, gpg: key, history: event activity,
    impersonate: impersonation user, latest recent last newest: latest recent history,
    limit: quota, login signin: session authenticate sign, logout signout: session sign,
    machine: server instance node, maintenance: window, meeting appointment: calendar,
    mfa: totp webauthn factor device, money: fund amount transfer,
    my mine: me authenticated current self own, namespace: project, next upcoming future: upcoming,
    notification: notify message, oncall: schedule call, outsider guest: external,
    owner: ownership, page: document, password: recovery credential,
    person people someone somebody everyone anyone coworker colleague employee: user member,
    picture: avatar, phone: contact, plan: price product subscription, priority severity: level,
    promo: coupon code, prompt: completion generation, quota: limit usage, rate: statistics metric,
    recording: replay, report: analytics, reset: recovery, rotation: schedule,
    screenshot: attachment image, shift: schedule rotation, sign: signature, sms text: message,
    social: oauth, source: code, spend: cost usage, ssh: key, stacktrace backtrace: event trace,
    storage space: disk volume usage, subdomain: domain dns record, subscription: plan, swap substitute: override,
    tail stream: log get,
    teammate: member user, theme: brand, trial: subscription, vm machine server: instance,
    who whom whose: user member collaborator
";
