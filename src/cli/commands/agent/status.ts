import { dirname } from 'node:path'
import { askAgent } from '../../agent/control/ask-agent.ts'
import type { AgentStatus } from '../../agent/control/agent-status.ts'
import { isEnrolled } from '../../agent/enrolled-state.ts'
import { readState } from '../../agent/state/state-file.ts'
import { wayBack } from '../../agent/way-back.ts'
import { defineCommand } from '../../argv/command.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import { harmless } from '../../output/style.ts'
import type { Session } from '../../session/session.ts'
import { STATE_DIR_FLAG } from './flags.ts'
import { placeIn } from './place-in.ts'

const COLUMNS = [
  'state',
  'name',
  'mesh_address',
  'interface.name',
  'interface.kind',
  'server.url',
  'server.reachable',
  'server.since',
  'peers.known',
  'peers.direct',
  'peers.relayed',
  'policies.count',
  'names.way',
  'sessions.listen',
  'sessions.open',
  'sessions.connections',
  'ingress.rules',
  'node_id',
  'mesh_cidr',
  'version',
  'pid',
  'started_at',
] as const

export const status = defineCommand({
  description:
    'Ends with exit code 10 where no agent runs, or where something of this machine does not work, and with 8 where all that is wrong is that the server does not answer: the mesh stays as it is then.',
  flags: STATE_DIR_FLAG,
  uses: ['output', 'watch'],
  examples: ['ctl agent status', 'ctl agent status -o json --jq .server'],
  async run(session, { flags }) {
    const place = placeIn(session, flags)
    const running = (await askAgent(place.socket, 'status')) as AgentStatus | undefined
    if (running === undefined) return stopped(session, place.state)
    await session.emit(running, { columns: COLUMNS, isUncut: true })
    noteCounts(session, running.counts)
    for (const fault of running.faults) session.warn(harmless(fault))
    if (running.faults.length > 0) return EXIT.negative
    return running.server.reachable === false ? EXIT.unavailable : EXIT.ok
  },
})

/** As talk: which of them there are depends on what has happened. */
function noteCounts(session: Session, counts: AgentStatus['counts']): void {
  const words = Object.entries(counts).map(([name, count]) => `${name.replaceAll('_', ' ')} ${count}`)
  if (words.length > 0) session.note(harmless(`Counted since its start: ${words.join(', ')}.`))
}

async function stopped(session: Session, path: string): Promise<ExitCode> {
  const state = await readState(path)
  if (!isEnrolled(state)) {
    session.note(
      `There is no node in ${dirname(path)}: enrol with "ctl agent up --server URL --join-token-file FILE", or name another --state-dir.`,
    )
    return EXIT.negative
  }
  const { node_id, name, mesh_address, refused } = state.enrolment
  const row = {
    state: refused === undefined ? 'stopped' : 'refused',
    node_id,
    name,
    mesh_address,
    server: { url: state.server.url },
  }
  await session.emit(
    { ...row, ...(refused !== undefined && { refused }) },
    { columns: ['state', 'name', 'mesh_address', 'server.url'], isWhole: true },
  )
  if (refused === undefined) session.note('Start the agent with "ctl agent up".')
  else
    session.warn(
      `the server refuses the key of this node (${refused.code}) since ${refused.at}. ${wayBack(refused.code)}`,
    )
  return EXIT.negative
}
