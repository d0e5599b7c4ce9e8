import { writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CliError, usageError } from '../../errors/cli-error.ts'
import { defineCommand } from '../../argv/command.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { Io } from '../../output/io.ts'
import { scriptOf, SHELLS, type Shell } from './scripts.ts'
import { makeFolder } from '../../files/make-folder.ts'

/** Where a shell looks, and what a person may still have to do. */
interface Place {
  readonly path: string
  readonly next: string
}

const PLACES: Readonly<Record<Shell, (io: Io) => Place>> = {
  bash: (io) => ({
    path: join(dataHome(io), 'bash-completion', 'completions', 'ctl'),
    next: 'Works in new shells where bash-completion is installed; else source that file from ~/.bashrc.',
  }),
  zsh: ({ home }) => ({
    path: join(home, '.zfunc', '_ctl'),
    next: 'If it is not there yet, add to ~/.zshrc: fpath=(~/.zfunc $fpath); autoload -U compinit; compinit',
  }),
  fish: ({ env, home }) => ({
    path: join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'fish', 'completions', 'ctl.fish'),
    next: 'Works in new shells.',
  }),
}

export const install = defineCommand({
  description: 'Writes one file into the directory where your shell looks for completions, and changes no other.',
  flags: { shell: { kind: 'text', value: 'SHELL', choices: SHELLS, describe: 'Shell; that of $SHELL when absent' } },
  examples: ['ctl completion install', 'ctl completion install --shell fish'],
  async run(session, { flags }) {
    const { io } = session
    const shell = SHELLS.find((one) => one === (flags.shell ?? basename(io.env['SHELL'] ?? '')))
    if (shell === undefined) throw usageError('which shell you use is not known', `Add --shell ${SHELLS.join('|')}`)
    const { path, next } = PLACES[shell](io)
    await write(path, await scriptOf(shell))
    session.note(`Wrote ${path}. ${next}`)
  },
})

async function write(path: string, text: string): Promise<void> {
  try {
    makeFolder(dirname(path))
    await writeFile(path, text)
  } catch (cause) {
    throw new CliError(`${path} cannot be written`, { exitCode: EXIT.failed, code: 'not_writable', cause })
  }
}

function dataHome({ env, home }: Io): string {
  return env['XDG_DATA_HOME'] || join(home, '.local', 'share')
}
