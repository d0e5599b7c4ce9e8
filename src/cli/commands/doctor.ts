import { defineCommand } from '../argv/command.ts'
import { lookAtAddress } from './doctor/look-at-address.ts'
import { lookHere } from './doctor/look-here.ts'
import { lookThere } from './doctor/look-there.ts'
import { reportFindings } from './doctor/report-findings.ts'
import { EXIT } from '../errors/exit-code.ts'

export const doctor = defineCommand({
  description: [
    'Looks at Node, context, credentials and their files, the address and its certificate, server, storage, versions and clock.',
    'Suggests a fix for each problem. Exits 10 when it finds a problem, 8 when what answers is not a ctl server; warnings alone exit 0.',
  ].join('\n'),
  flags: {
    'data-dir': {
      kind: 'text',
      value: 'DIR',
      describe: 'Data directory of a server on this machine, to look at as well',
    },
  },
  uses: ['connection', 'output'],
  examples: ['ctl doctor', 'ctl doctor -o json --jq \'.[] | select(.status == "problem")\''],
  async run(session, { flags }) {
    const address = await lookAtAddress(session)
    const isNowhere = address.some(({ check, status }) => check === 'address' && status === 'problem')
    const here = await lookHere(session, flags['data-dir'])
    const there = isNowhere ? undefined : await lookThere(session)
    const findings = [...here, ...address, ...(there?.findings ?? [])]
    const exitCode = await reportFindings(session, findings)
    return there?.isForeign === true ? EXIT.unavailable : exitCode
  },
})
