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
}

/** What a file should say in other words, as `path:line: …`. */
export function wordingFaults(path, text) {
  const name = basename(path).replace(/\..*$/, '')
  const named = Object.hasOwn(NAMES, name) ? [`${path}: call the file ${NAMES[name]}`] : []
  const lines = text.split('\n').flatMap((line, index) =>
    PHRASES.flatMap(([pattern, instead]) => {
      const found = pattern.exec(line)
      return found === null ? [] : [`${path}:${index + 1}: "${found[0]}": write ${instead}`]
    }),
  )
  return [...named, ...lines]
}
