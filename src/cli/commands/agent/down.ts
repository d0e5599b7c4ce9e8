import { requireLinux } from '../../agent/enrolled-state.ts'
import { takeDown } from '../../agent/process/take-down.ts'
import { requireNetAdmin } from '../../agent/system/privileges.ts'
import { wayBack } from '../../agent/way-back.ts'
import { defineCommand } from '../../argv/command.ts'
import { STATE_DIR_FLAG } from './flags.ts'
import { placeIn } from './place-in.ts'

export const down = defineCommand({
  description: [
    'Stops the agent, however it was started, and removes the WireGuard interface, the policies and the names of the mesh from this machine. Removes also what an agent has left that was killed.',
    'The state file stays, so that "ctl agent up" starts the agent again. The node stays in the Domain: "ctl nodes deregister" removes it.',
  ].join('\n'),
  flags: STATE_DIR_FLAG,
  examples: ['ctl agent down'],
  async run(session, { flags }) {
    requireLinux()
    requireNetAdmin()
    const place = placeIn(session, flags)
    const found = await takeDown(place)
    if (found.enrolled === undefined) return session.note(`There is no agent in ${place.directory}.`)
    const { name, interfaceName, refused } = found.enrolled
    const stopped = found.wasRunning ? 'The agent is stopped' : 'No agent ran'
    const next = refused === undefined ? '"ctl agent up" starts it again.' : wayBack(refused)
    return session.note(
      `${stopped}; nothing of ${interfaceName} is left. ${place.directory} keeps the keys of ${name}. ${next}`,
    )
  },
})
