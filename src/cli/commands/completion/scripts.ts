import { readFile } from 'node:fs/promises'
import { packageFile } from '../../../shared/package-files.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

const FILES: Readonly<Record<Shell, string>> = { bash: 'ctl.bash', zsh: '_ctl', fish: 'ctl.fish' }

/** The completion script as it was generated from the command tree. */
export function scriptOf(shell: Shell): Promise<string> {
  return readFile(packageFile(`completions/${FILES[shell]}`), 'utf8')
}
