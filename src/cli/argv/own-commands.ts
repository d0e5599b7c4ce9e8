import type { CommandRow } from './command.ts'

/**
 * Commands with files of their own, by their words. One with the words of an operation takes the place of the derived
 * command, whose summary it keeps when it has none of its own.
 */
export type OwnCommands = Readonly<Record<string, OwnCommand>>

export interface OwnCommand {
  readonly summary?: string
  readonly load: CommandRow['load']
}
