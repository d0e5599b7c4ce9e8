import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { Session } from '../../session/session.ts'
import type { Finding } from './finding.ts'

/** Prints the findings, with the advice on each at a terminal, and their summary. Resolves with 10 where there is a problem. */
export async function reportFindings(session: Session, findings: readonly Finding[]): Promise<ExitCode> {
  const isSeen = session.io.stdout.isTty
  await session.emit(findings, {
    columns: ['status', 'check', 'detail', ...(isSeen ? [] : ['advice'])],
    isUncut: true,
  })
  if (isSeen) noteAdvice(session, findings)
  session.note(summary(findings))
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
