import { mistypedError } from '../../errors/cli-error.ts'
import type { FleetNode } from './fleet-node.ts'

/** What `--for` waits for. */
export interface WaitCondition {
  /** As typed. */
  readonly text: string
  /** Whether a node, undefined once it is gone, has come to it. */
  isMet(node: FleetNode | undefined): boolean
  /** What a node is instead, in a word or two. */
  instead(node: FleetNode): string
}

const REACHABILITY = ['healthy', 'stale', 'unreachable', 'never_reported'] as const
const KNOWN: readonly string[] = [
  ...REACHABILITY.map((state) => `reachability=${state}`),
  'rotation=completed',
  'deregistered',
]

/** All that `--for` takes, as help lists it. */
export const WAIT_CONDITIONS: readonly string[] = KNOWN

/** Reads `--for`. Throws a usage error that names the nearest condition. */
export function parseWaitCondition(text: string): WaitCondition {
  const instead = ({ reachability }: FleetNode): string => reachability
  if (!KNOWN.includes(text))
    throw mistypedError(`--for cannot wait for "${text}"`, {
      word: text,
      known: KNOWN,
      otherwise: `It waits for one of ${KNOWN.join(', ')}.`,
    })
  if (text === 'deregistered') return { text, isMet: (node) => node === undefined, instead }
  if (text === 'rotation=completed')
    return { text, isMet: (node) => node?.rotation_pending === false, instead: () => 'rotation pending' }
  const wanted = text.slice(text.indexOf('=') + 1)
  return { text, isMet: (node) => node?.reachability === wanted, instead }
}
