import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl completion` offers beside, or in place of, what derives from its operations. */
export const completionCommands: OwnCommands = {
  'completion bash': {
    summary: 'Print the completion script for bash',
    load: async () => (await import('./print.ts')).bash,
  },
  'completion zsh': {
    summary: 'Print the completion script for zsh',
    load: async () => (await import('./print.ts')).zsh,
  },
  'completion fish': {
    summary: 'Print the completion script for fish',
    load: async () => (await import('./print.ts')).fish,
  },
  'completion install': {
    summary: 'Install completion for your shell',
    load: async () => (await import('./install.ts')).install,
  },
}
