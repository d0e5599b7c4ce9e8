import { basename } from 'node:path'

/** Phrases that readers stumble over, each with what to write. */
const PHRASES = [
  [/\banew\b/i, 'again, or re- (reload, recompute, restart)'],
  [/\bwhoever\b/i, 'anyone who, the caller, a caller that'],
  [/\bof ours\b/i, 'the owner by its name: of this server, of this package'],
  [/\bat hand\b/i, 'in memory, available'],
  [/\bwithout a word\b/i, 'silently, or what is left out'],
  [/\bhalf (?:of them )?within\b/i, 'p50'],
  [/\b99 of 100\b/, 'p99'],
  [/\btroubles?\b/i, 'problem, fault, failure'],
  [/\bwhat it is to\b/i, 'the purpose or the value by its name'],
  [/\bof its own accord\b/i, 'automatically, periodically'],
  [/\bevery now and then\b/i, 'occasionally, at random, or the interval'],
  [/\bset out to\b/i, 'schedule'],
  [/\bin the eyes of\b/i, 'for, according to'],
  [/\bdeeds?\b/i, 'action, change'],
  [
    /\b(?:nought|aught|thereof|whereby|wherein|whence|lest|ere)\b/i,
    'today’s word: nothing, of it, by which, so that not',
  ],
  [/\bin vain\b/i, 'without success, times out'],
  [/\bfor ever\b/i, 'forever, without a time limit'],
  [/\bas it stands\b/i, 'unchanged, the current one'],
  [/\btakes? turns\b/i, 'is serialized, runs one after another'],
  [/\bcomes? to be\b/i, 'is created'],
  [/\bleave together\b/i, 'are sent together'],
  [/\bclass for its lifetime\b/i, 'class to save memory, or the reason'],
  [/\b(?:is|are|was|were) told\b/i, 'receives, is informed, learns'],
  [/\bunless told otherwise\b/i, 'by default'],
]

/** Names of files that say nothing to a reader, each with the field's term. */
const NAMES = {
  'as-typed': 'npx-command-hints',
  departures: 'response-batcher',
  founders: 'bootstrap-factories',
  garbage: 'malformed-requests',
  'gathered-reads': 'batch-loader',
  'hand-over': 'stream-catch-up',
  hearing: 'handle-event',
  judges: 'form-handlers',
  kept: 'cached-fetch',
  'kept-open': 'versioned-singleton',
  patience: 'rate-limit-retry',
  'signing-in': 'the name of the slice',
  slots: 'semaphore',
  'sparing-report': 'throttled-reporter',
  standing: 'reauthorization',
  telling: 'disclosure-policy',
  told: 'event-template',
  'turn-end': 'immediate-batch',
  turnstile: 'paced-limiter',
  twice: 'inject-duplicates',
  wheel: 'timer-wheel',
  'who-listens': 'detect-ctl-server',
  acting: 'agent-runtime',
  'bridge-telling': 'bridge-events',
  errands: 'task-tracker',
  lanes: 'run-concurrently',
  'policy-telling': 'policy-events',
  seen: 'recently-seen',
  'administrator-founding': 'first-administrator',
  asking: 'question-context',
  'caller-turns': 'caller-queues',
  closing: 'commit-records',
  'endpoint-news': 'announce-endpoints',
  'engine-turns': 'engine-scheduler',
  'frame-judge': 'frame-verifier',
  homes: 'object-domain',
  'index-room': 'index-size',
  'issuer-questions': 'issuer-probes',
  'kept-index': 'persisted-index',
  leftovers: 'settle-unmirrored',
  link: 'stream-connection',
  'own-requests': 'in-process-requests',
  'quiet-notices': 'redirect-notices',
  reach: 'availability',
  relaying: 'event-relay',
  'schema-fit': 'schema-compatibility',
  'sign-in-walk': 'sign-in-dry-run',
  'sign-place': 'sign-position',
  'signed-out': 'start-sign-in',
  'signed-place': 'signed-position',
  'silence-parser': 'discard-pipelined',
  stopping: 'stop-server',
  strength: 'authentication-strength',
  'subject-reach': 'subject-reachability',
  'take-in-partials': 'include-partials',
  timeliness: 'observation-age',
  turns: 'read-limiter',
  'waiting-line': 'bounded-queue',
}

/** Folders whose wording was revised: they are also checked for the phrases below. Released migrations never change. */
const PLAIN_FOLDERS = [
  'cli/agent-sim',
  'client',
  'server/adapters/postgres',
  'server/adapters/prometheus',
  'server/adapters/sealed-signer',
  'server/adapters/signing-keys',
  'server/adapters/transit-signer',
  'server/adapters/spicedb',
  'server/adapters/stale-checks',
  'server/adapters/system',
  'server/event-relay',
  'server/first-run',
  'server/jobs',
  'server/outbox',
  'shared/authz/language',
  'shared/authz/validation',
].map((folder) => `src/${folder}/`)

const PLAIN_PHRASES = [
  [/\b(?:tells?|told|hears?|heard)\b/i, 'send, receive, notify, call with'],
  [/\b(?:stands|lies)\b/i, 'is'],
  [/\bsays\b/i, 'contains, means, reports'],
  [/\b(?:nobody|somebody)\b/i, 'the caller, the node, the operator by name'],
]

/** What a file should say in other words, as `path:line: …`. */
export function wordingFaults(path, text) {
  const name = basename(path).replace(/\..*$/, '')
  const named = Object.hasOwn(NAMES, name) ? [`${path}: call the file ${NAMES[name]}`] : []
  const isPlain = PLAIN_FOLDERS.some((folder) => path.startsWith(folder)) && !path.includes('/migrations/')
  const phrases = isPlain ? [...PHRASES, ...PLAIN_PHRASES] : PHRASES
  const lines = text.split('\n').flatMap((line, index) =>
    phrases.flatMap(([pattern, instead]) => {
      const found = pattern.exec(line)
      return found === null ? [] : [`${path}:${index + 1}: "${found[0]}": write ${instead}`]
    }),
  )
  return [...named, ...lines]
}
