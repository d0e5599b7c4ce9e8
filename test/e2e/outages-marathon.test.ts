import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Dependency, How } from '../support/outages/dependencies.ts'
import { readDocumentedAnswers } from '../support/outages/documented-codes.ts'
import { startFleet } from '../support/outages/fleet.ts'
import { startMarathonClient } from '../support/outages/marathon-client.ts'
import type { Plane } from '../support/outages/plane.ts'
import { startWorld } from '../support/outages/world.ts'
import { depth } from '../support/run/depth.ts'
import { requirement } from '../support/run/requirements.mjs'

const fromEnv = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise)
const SECONDS = fromEnv('CTL_TEST_OUTAGES_SECONDS', depth({ ci: 60, deep: 1_800 }))
const NODES = fromEnv('CTL_TEST_OUTAGES_NODES', depth({ ci: 50, deep: 2_000 }))
/** A deep run kills and freezes each dependency; an ordinary one does one of the two. */
const HOWS = depth<readonly How[]>({ ci: [], deep: ['stopped', 'frozen'] })
const SEED = fromEnv('CTL_TEST_OUTAGES_SEED', Date.now() % 100_000)
/** A simulated node is ephemeral: it must not stay away for minutes. */
const OUTAGE_SECONDS_MAX = 40

const isMissing = (['postgresql', 'nats-server', 'spicedb'] as const).some((name) => requirement(name) === undefined)

describe.skipIf(isMissing)('under a fleet and a client that changes things', () => {
  test(
    `no acknowledged write is lost and no event missed, whatever dies (${SECONDS} s, ${NODES} nodes, seed ${SEED})`,
    { timeout: (SECONDS * 2 + 900) * 1000 },
    async () => {
      const world = await startWorld(['PostgreSQL', 'NATS', 'SpiceDB', 'OpenBao', 'Transit'])
      onTestFinished(() => world.end())
      const { plane, dependencies } = world
      const fleet = await startFleet(plane, {
        folder: world.folder,
        nodes: NODES,
        seconds: SECONDS + 10,
        heartbeatSeconds: NODES > 200 ? 10 : 1,
      })
      const client = await startMarathonClient(plane)
      const outages = shuffled(dependencies.flatMap((dependency) => waysFor(dependency)))
      const slotSeconds = SECONDS / outages.length
      const outageSeconds = Math.min(OUTAGE_SECONDS_MAX, slotSeconds / 3)
      for (const { dependency, how } of outages) {
        await dependency.fail(how)
        await sleep(outageSeconds * 1000)
        await dependency.recover(how)
        await sleep((slotSeconds - outageSeconds) * 1000)
      }
      const lost = await client.finish()
      const { exitCode, stdout } = await fleet.ended
      const summary = JSON.parse(stdout) as Summary
      report({ outages, client, summary })
      expect(lost).toEqual([])
      expect(client.acknowledged()).toBeGreaterThan(SECONDS / 2)
      expect([...client.undocumented]).toEqual([])
      expect(exitCode).toBe(0)
      expect(summary).toMatchObject({ missed_events: 0, bad_signatures: 0 })
      expect(await undocumentedOf(summary, plane)).toEqual([])
    },
  )
})

interface Summary {
  readonly operations: number
  readonly missed_events: number
  readonly failures: readonly { readonly operation: string; readonly code: string; readonly count: number }[]
}

/** What agents of the simulator do by themselves, as the API document names it. */
const PERFORMED: Readonly<Record<string, string>> = {
  register: 'POST /v1/nodes/register',
  heartbeat: 'POST /v1/nodes/{id}/heartbeat',
  deregister: 'DELETE /v1/nodes/{id}',
  stream: 'GET /v1/nodes/{id}/events',
  endpoint: 'PUT /v1/nodes/{id}/endpoint',
  capabilities: 'PUT /v1/nodes/{id}/capabilities',
  state_pull: 'GET /v1/nodes/{id}/state',
  edge_key: 'GET /v1/nodes/{id}/peers/{peer_node_id}/psk',
  report: 'PUT /v1/nodes/{id}/state/reports/{key}',
  report_deletion: 'DELETE /v1/nodes/{id}/state/reports/{key}',
  violations: 'POST /v1/nodes/{id}/integrity-violations',
}
/** The answer did not come in the time that an agent waits. */
const NO_ANSWER = 'timeout'

/** Failures of agents with a code that the document does not have for their operation. */
async function undocumentedOf({ failures }: Summary, { server, token }: Plane): Promise<Summary['failures']> {
  const documented = await readDocumentedAnswers(server.url, token)
  return failures.filter(
    ({ operation, code }) => code !== NO_ANSWER && !documented.codesOf(PERFORMED[operation] ?? '').has(code),
  )
}

interface Outage {
  readonly dependency: Dependency
  readonly how: How
}

/** What an ordinary run stops; it freezes the others. */
const STOPPED: ReadonlySet<string> = new Set(['PostgreSQL', 'OpenBao'])

/** An ordinary run plays one way for each dependency. */
function waysFor(dependency: Dependency): readonly Outage[] {
  if (HOWS.length > 0) return HOWS.map((how) => ({ dependency, how }))
  return [{ dependency, how: STOPPED.has(dependency.name) ? 'stopped' : 'frozen' }]
}

/** Fisher-Yates over a linear congruential generator. */
function shuffled(outages: readonly Outage[]): readonly Outage[] {
  let state = SEED
  const rest = [...outages]
  return outages.flatMap(() => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return rest.splice(state % rest.length, 1)
  })
}

function report({
  outages,
  client,
  summary,
}: {
  readonly outages: readonly Outage[]
  readonly client: { readonly answers: object; readonly undocumented: ReadonlySet<string>; acknowledged(): number }
  readonly summary: Summary
}): void {
  const played = outages.map(({ dependency, how }) => `${dependency.name} ${how}`)
  const { operations, missed_events, failures } = summary
  process.stdout.write(
    JSON.stringify(
      {
        played,
        acknowledged: client.acknowledged(),
        answers: client.answers,
        undocumented: [...client.undocumented],
        operations,
        missed_events,
        failures,
      },
      null,
      2,
    ),
  )
}
