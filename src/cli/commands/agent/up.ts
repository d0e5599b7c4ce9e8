import { askAgent } from '../../agent/control/ask-agent.ts'
import type { AgentStatus } from '../../agent/control/agent-status.ts'
import { assertSameServer, changedMachine, enrolledState, openPlace } from '../../agent/enrolled-state.ts'
import type { Place } from '../../agent/place.ts'
import { startInBackground } from '../../agent/process/background.ts'
import { lockOwner, takeLock } from '../../agent/process/process-lock.ts'
import { readState } from '../../agent/state/state-file.ts'
import { defineCommand } from '../../argv/command.ts'
import { harmless } from '../../output/style.ts'
import type { Session } from '../../session/session.ts'
import { UP_FLAGS, type UpFlags } from './flags.ts'
import { placeIn } from './place-in.ts'

export const up = defineCommand({
  description: [
    'Enrols the machine with a join token unless it is enrolled already, makes a WireGuard interface and starts the agent in the background. The agent then keeps peers, keys, policies and names as the server has them. On a machine that is enrolled it needs no flags.',
    'Needs Linux, root or CAP_NET_ADMIN, ip (iproute2), and wg (wireguard-tools) or wireguard-go.',
  ].join('\n'),
  flags: UP_FLAGS,
  examples: [
    'ctl agent up --server https://ctl.example.org --join-token-file ./token',
    'ctl agent up --server https://10.0.0.1:7070 --ca-sha256 3b1f… --join-token-file - < token',
    'ctl agent up',
  ],
  async run(session, { flags }) {
    const place = placeIn(session, flags)
    await openPlace(place)
    const running = await lockOwner(place.lock)
    if (running !== undefined) return reportRunning(session, flags, { place, pid: running.pid })
    const pid = await startEnrolled(session, flags, place)
    return report(session, place, pid)
  },
})

interface Running {
  readonly place: Place
  readonly pid: number
}

/** Flags of a machine whose agent runs change nothing, which must not go unnoticed. */
async function reportRunning(session: Session, flags: UpFlags, { place, pid }: Running): Promise<void> {
  const state = await readState(place.state)
  assertSameServer(state, flags)
  session.note(`The agent runs already, as process ${pid}.`)
  if (state !== undefined && changedMachine(state, flags) !== undefined)
    session.warn('its settings stay as they are: run "ctl agent down", then this command again')
}

/** Enrols under the lock, which the background process then takes over. */
async function startEnrolled(session: Session, flags: UpFlags, place: Place): Promise<number> {
  const lock = await takeLock(place.lock)
  try {
    await enrolledState(session, flags, place)
  } finally {
    await lock.release()
  }
  return startInBackground(place)
}

async function report(session: Session, place: Place, pid: number): Promise<void> {
  const status = (await askAgent(place.socket, 'status')) as AgentStatus | undefined
  if (status === undefined) return session.note(`The agent runs as process ${pid}.`)
  const { name, mesh_address: address, interface: device, peers, server, faults } = status
  session.note(
    `${name} is ${address} on ${device.name} (${device.kind}), with ${peers.known} ${peers.known === 1 ? 'peer' : 'peers'}. Process ${pid}.`,
  )
  if (server.reachable === false) session.warn(`${server.url} is away; the agent goes on trying`)
  for (const fault of faults) session.warn(harmless(fault))
  return undefined
}
