import { release } from 'node:os'
import { requireLinux } from '../../agent/enrolled-state.ts'
import { examine } from '../../agent/doctor/examine.ts'
import { cleanEnvironment } from '../../agent/system/clean-environment.ts'
import { runProgram } from '../../agent/system/run-program.ts'
import { defineCommand } from '../../argv/command.ts'
import { reportFindings } from '../doctor/report-findings.ts'
import { STATE_DIR_FLAG } from './flags.ts'
import { placeIn } from './place-in.ts'

export const doctor = defineCommand({
  description: [
    'Looks at rights, programs and devices of this machine, the state file, the server and its certificate, the key of the node, the clock, addresses that overlap, and at the running agent: event stream, policies, interface, MTU, routes, names and peers. Changes nothing.',
    'Suggests a fix for each problem. Exits 10 when it finds a problem; warnings alone exit 0.',
  ].join('\n'),
  flags: STATE_DIR_FLAG,
  uses: ['output'],
  examples: ['ctl agent doctor', 'ctl agent doctor -o json --jq \'.[] | select(.status == "problem")\''],
  async run(session, { flags }) {
    requireLinux()
    const findings = await examine({
      place: placeIn(session, flags),
      userAgent: session.userAgent,
      system: {
        run: runProgram,
        path: cleanEnvironment()['PATH'] ?? '',
        tun: '/dev/net/tun',
        hostsFile: '/etc/hosts',
        modulesFolder: '/sys/module',
        modulesList: `/lib/modules/${release()}/modules.dep`,
        nowMs: () => session.io.nowMs(),
      },
    })
    return reportFindings(session, findings)
  },
})
