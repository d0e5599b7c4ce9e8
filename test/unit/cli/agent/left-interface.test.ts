import { expect, test } from 'vitest'
import { refuseLeftInterface } from '../../../../src/cli/agent/left-interface.ts'
import type { RunProgram } from '../../../../src/cli/agent/system/run-program.ts'
import { enrolledState } from '../../../support/agent/agent-state.ts'

const OWN = `ctl ${enrolledState().enrolment.node_id}`

/** A machine with these interfaces, by name with their alias. */
function machineWith(links: Readonly<Record<string, string>>): RunProgram {
  return async (_, args) => {
    const name = args.at(-1) ?? ''
    const alias = links[name]
    if (alias === undefined) return { stdout: '', stderr: `Device "${name}" does not exist.`, exitCode: 1 }
    return { stdout: JSON.stringify([{ ifname: name, ifalias: alias }]), stderr: '', exitCode: 0 }
  }
}

test('an agent keeps the name of its interface while that is there', async () => {
  await expect(refuseLeftInterface(machineWith({ ctl0: OWN }), enrolledState())).rejects.toMatchObject({
    code: 'interface_left',
    exitCode: 6,
    hints: [expect.stringContaining('ctl agent down')],
  })
})

const FREE: readonly Readonly<Record<string, string>>[] = [{}, { ctl1: OWN }, { ctl0: 'ctl of-another-node' }]

test.each(FREE)('an agent may take another name with %j', async (links) => {
  await expect(refuseLeftInterface(machineWith(links), enrolledState())).resolves.toBeUndefined()
})
