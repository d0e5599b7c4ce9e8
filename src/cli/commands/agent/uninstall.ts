import { requireLinux } from '../../agent/enrolled-state.ts'
import { linuxSystem } from '../../agent/install/install-system.ts'
import { uninstallService } from '../../agent/install/uninstall-service.ts'
import { takeDown } from '../../agent/process/take-down.ts'
import { requireRoot } from '../../agent/system/privileges.ts'
import { runProgram } from '../../agent/system/run-program.ts'
import { defineCommand } from '../../argv/command.ts'
import { STATE_DIR_FLAG } from './flags.ts'
import { placeIn } from './place-in.ts'

export const uninstall = defineCommand({
  description: [
    'Stops the service of "ctl agent install", removes its unit and the copy of the program, and does what "ctl agent down" does. An agent in the background is left alone where no service is installed.',
    'The state folder stays, and with it the keys of the node: "ctl agent install" or "ctl agent up" brings it back. The node stays in the Domain: "ctl nodes deregister" removes it.',
  ].join('\n'),
  flags: STATE_DIR_FLAG,
  examples: ['ctl agent uninstall'],
  async run(session, { flags }) {
    requireLinux()
    requireRoot('Removing a service')
    const place = placeIn(session, flags)
    const { unit, wasInstalled } = await uninstallService(linuxSystem(runProgram), place)
    if (!wasInstalled) return session.note(`There is no ${unit}.`)
    const { enrolled } = await takeDown(place)
    const left = enrolled === undefined ? '' : ` ${place.directory} keeps the keys of ${enrolled.name}.`
    return session.note(`${unit} is stopped and removed.${left}`)
  },
})
