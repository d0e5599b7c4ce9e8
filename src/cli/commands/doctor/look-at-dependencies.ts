import { relative } from '../../output/cells.ts'
import type { ServerDependency, ServerState } from '../../session/server-state.ts'
import { ok, problem, warning, type Finding } from './finding.ts'

/** What the server says of each of its dependencies: whether it is reachable, since when, and what works without it. */
export function lookAtDependencies(
  { dependencies }: Pick<ServerState, 'dependencies'>,
  nowMs: number,
): readonly Finding[] {
  return dependencies.map((dependency) => {
    const { name, detail } = dependency
    const said = sentencesOf(dependency, nowMs)
    if (detail === undefined) return ok(name, said)
    return (WARNED_OF.has(name) ? warning : problem)(name, said, adviceOn(name, detail))
  })
}

function sentencesOf({ detail, since, meanwhile }: ServerDependency, nowMs: number): string {
  const state = detail === undefined ? 'reachable' : detail
  const when = since === undefined ? '' : `, since ${since} (${relative(since, nowMs)})`
  if (meanwhile === undefined) return state + when
  return `${state}${when}. ${detail === undefined ? 'Without it' : 'Meanwhile'}: ${meanwhile}`
}

/** What works although it is not as it should be. */
const WARNED_OF: ReadonlySet<string> = new Set(['open-files'])

const ADVICE: Readonly<Record<string, string>> = {
  'spicedb-readiness': 'Bring SpiceDB back: the server goes on by itself.',
  jetstream: 'Bring NATS back: events wait for it, nothing is lost, and the server goes on by itself.',
  'secrets-reconcile': 'Bring the secret store back, or unseal it: the server goes on by itself.',
  'open-files': 'Raise the limit of open files of the server (LimitNOFILE, ulimit -n), or add replicas.',
  signer: 'Bring the signing service back: events wait for it, nothing is lost, and the server goes on by itself.',
}

function adviceOn(name: string, detail: string): string {
  if (name === 'db-primary') return storageAdvice(detail)
  return ADVICE[name] ?? 'See the log of the server.'
}

function storageAdvice(said: string): string {
  if (said.includes('read-only')) return 'Free space on its disk, or lift the read-only mode of its database.'
  if (said.includes('restart'))
    return 'If no supervisor restarts it, start it again: it recovers from its log. Its last line on stderr gives the reason.'
  return 'Bring its database back: it goes on by itself; see its log.'
}
