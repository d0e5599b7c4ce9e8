import { askAgent } from '../../agent/control/ask-agent.ts'
import type { PeerRow } from '../../agent/control/agent-status.ts'
import { agentError } from '../../agent/errors.ts'
import { defineCommand } from '../../argv/command.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { STATE_DIR_FLAG } from './flags.ts'
import { placeIn } from './place-in.ts'

const COLUMNS = [
  'name',
  'mesh_address',
  'path',
  'latest_handshake_at',
  'endpoint',
  'relay',
  'received_bytes',
  'sent_bytes',
] as const

export const peers = defineCommand({
  description:
    'While the tunnel has a session with the peer, its path is direct, or relayed by the relay of that address; else it is none. A direct path is tried again every 15 seconds.',
  flags: STATE_DIR_FLAG,
  uses: ['output', 'watch'],
  examples: ['ctl agent peers', 'ctl agent peers -o json --jq \'.[] | select(.path == "none") | .name\''],
  async run(session, { flags }) {
    const place = placeIn(session, flags)
    const rows = (await askAgent(place.socket, 'peers')) as readonly PeerRow[] | undefined
    if (rows === undefined)
      throw agentError('agent_stopped', `no agent runs with the state folder ${place.directory}`, {
        exitCode: EXIT.unavailable,
        hints: ['Start it with "ctl agent up".'],
      })
    await session.emit(rows, { columns: COLUMNS, wide: ['node_id'] })
    if (rows.length === 0) session.note('This node has no peers yet.')
  },
})
