import { EXIT } from '../errors/exit-code.ts'
import type { EnrolledState } from './agent-core.ts'
import { readIp, type IpLink } from './doctor/read-ip.ts'
import { agentError } from './errors.ts'
import { aliasOf } from './system/own-links.ts'
import type { RunProgram } from './system/run-program.ts'

/**
 * Refuses another name for the interface while the present one is there: the state would no longer name it, and nothing would
 * remove it, its rules and its names.
 *
 * @throws CliError
 */
export async function refuseLeftInterface(run: RunProgram, { machine, enrolment }: EnrolledState): Promise<void> {
  const { interface_name: name } = machine
  const [found] = await readIp<IpLink>(run, ['-d', 'link', 'show', 'dev', name])
  if (found?.ifalias !== aliasOf(enrolment.node_id)) return
  throw agentError('interface_left', `the interface ${name} of this node is still there`, {
    exitCode: EXIT.conflict,
    hints: ['Remove it first with "ctl agent down", then run this command again.'],
  })
}
