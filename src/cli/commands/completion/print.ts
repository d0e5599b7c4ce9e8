import { defineCommand, type Command } from '../../argv/command.ts'
import { scriptOf, type Shell } from './scripts.ts'

export const bash = printing('bash', 'source <(ctl completion bash)')
export const zsh = printing('zsh', 'ctl completion zsh > ~/.zfunc/_ctl')
export const fish = printing('fish', 'ctl completion fish | source')

function printing(shell: Shell, example: string): Command {
  return defineCommand({
    description: `To have it always: ctl completion install --shell ${shell}`,
    examples: [example],
    async run(session) {
      session.io.stdout.write(await scriptOf(shell))
    },
  })
}
