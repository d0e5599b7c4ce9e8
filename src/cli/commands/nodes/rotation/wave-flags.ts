import { usageError } from '../../../errors/cli-error.ts'
import type { FlagSpecs, FlagValues } from '../../../argv/flags.ts'
import { SELECTION } from '../selection.ts'
import { QUANTITIES } from './counts.ts'
import { parsePauseOn, PAUSE_ON_USUALLY } from './pause-on.ts'
import type { WaveRules } from './wave-plan.ts'

const BATCH_USUALLY = '10'
const WAVE_TIMEOUT_SECONDS = 300
const PAUSE_SECONDS = 10
export const PROOF_TIMEOUT_SECONDS = 120

export const ROTATE_FLAGS = {
  ...SELECTION,
  batch: { kind: 'text', value: 'N', describe: 'Nodes of one wave, or N% of all', fallback: BATCH_USUALLY },
  'max-unavailable': {
    kind: 'integer',
    value: 'N',
    describe: 'Begin a wave only while at most N of the nodes are not healthy or have not completed',
  },
  'pause-on': {
    kind: 'text',
    value: 'CONDITIONS',
    describe: `Pause before a wave when one holds, e.g. 'unreachable>0,timeout>2': ${QUANTITIES.map(([name]) => name).join(', ')}; or never`,
    fallback: PAUSE_ON_USUALLY,
  },
  'wave-timeout': { kind: 'duration', describe: 'How long a wave waits for its nodes', fallback: '5m' },
  pause: { kind: 'duration', describe: 'Time between two waves', fallback: '10s' },
  since: {
    kind: 'text',
    value: 'TIME',
    describe: 'Leave out nodes whose keys were issued then or later: how a run that stopped goes on',
  },
  'include-unreachable': {
    kind: 'switch',
    describe: 'With nodes from stdin: ask the unreachable ones too. Without it, those are skipped',
  },
  'dry-run': {
    kind: 'switch',
    describe:
      'Change nothing; show the waves, the edges and how long it may take, and exit 10 if anything would change',
  },
  'no-wait': { kind: 'switch', describe: 'For one node: print the handle and do not wait' },
  'proof-timeout': { kind: 'duration', describe: 'How long to wait until all agents agree', fallback: '2m' },
  'no-proof': { kind: 'switch', describe: 'Do not compare what agents report at the end' },
} as const satisfies FlagSpecs

type Flags = FlagValues<typeof ROTATE_FLAGS>

/** Flags that make waves even of one node. */
const OF_WAVES = ['selector', 'all', 'batch', 'max-unavailable', 'pause-on', 'pause', 'since', 'dry-run'] as const

/** Whether one node was named, and no flag about waves. */
export function isOneNode(args: readonly string[], flags: Flags): boolean {
  const isOne = args.length === 1 && args[0] !== '-' && OF_WAVES.every((name) => flags[name] === undefined)
  if (flags['no-wait'] === true && !isOne) throw usageError('--no-wait is for one node', 'Waves wait for their nodes.')
  return isOne
}

/** How long a wave waits for its nodes. */
export function waveTimeoutSeconds(flags: Flags): number {
  return flags['wave-timeout'] ?? WAVE_TIMEOUT_SECONDS
}

/** The rules of the flags; parts of a hundred are of so many nodes. Throws a usage error. */
export function rulesOf(flags: Flags, nodes: number): WaveRules {
  const unavailableMax = flags['max-unavailable']
  if (unavailableMax !== undefined && unavailableMax < 0) throw usageError('--max-unavailable must be at least 0')
  if (waveTimeoutSeconds(flags) === 0) throw usageError('--wave-timeout must be more than 0s')
  return {
    batch: batchOf(flags.batch ?? BATCH_USUALLY, nodes),
    unavailableMax,
    pauseOn: parsePauseOn(flags['pause-on'] ?? PAUSE_ON_USUALLY),
    waveTimeoutMs: waveTimeoutSeconds(flags) * 1000,
    pauseMs: (flags.pause ?? PAUSE_SECONDS) * 1000,
  }
}

function batchOf(text: string, nodes: number): number {
  const [, number, percent] = /^(\d{1,6})(%?)$/.exec(text) ?? []
  const value = Number(number)
  const isPercent = percent === '%'
  if (number === undefined || value < 1 || (isPercent && value > 100))
    throw usageError(`--batch takes a whole number from 1, or 1% to 100%, not "${text}"`)
  return isPercent ? Math.max(1, Math.ceil((nodes * value) / 100)) : value
}
