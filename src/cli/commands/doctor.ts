import { defineCommand } from '../argv/command.ts'
import type { Finding } from './doctor/finding.ts'
import { lookAtAddress } from './doctor/look-at-address.ts'
import { lookHere } from './doctor/look-here.ts'
import { lookThere } from './doctor/look-there.ts'
import { EXIT, type ExitCode } from '../errors/exit-code.ts'
import type { Session } from '../session/session.ts'

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
    const isSeen = session.io.stdout.isTty
    await session.emit(findings, {
      columns: ['status', 'check', 'detail', ...(isSeen ? [] : ['advice'])],
      isUncut: true,
    })
    if (isSeen) noteAdvice(session, findings)
    session.note(summary(findings))
    return there?.isForeign === true ? EXIT.unavailable : exitCodeOf(findings)
  },
})

function exitCodeOf(findings: readonly Finding[]): ExitCode {
  return findings.some(({ status }) => status === 'problem') ? EXIT.negative : EXIT.ok
}

function noteAdvice(session: Session, findings: readonly Finding[]): void {
  for (const { check, advice } of findings) if (advice !== '') session.note(`${check}: ${advice}`)
}

/** `No problems found, 1 warning.` */
function summary(findings: readonly Finding[]): string {
  const count = (of: Finding['status'], one: string): string => {
    const found = findings.filter(({ status }) => status === of).length
    return `${found === 0 ? 'no' : found} ${one}${found === 1 ? '' : 's'}`
  }
  const warnings = count('warning', 'warning')
  const text = `${count('problem', 'problem')} found${warnings.startsWith('no') ? '' : `, ${warnings}`}.`
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
