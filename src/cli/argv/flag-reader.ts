import { Command as Commander, Option, type ParseOptionsResult } from 'commander'
import type { ArgumentSpec, FlagSpec, FlagSpecs, FlagValue } from './flags.ts'
import type { Typed } from './flag-values.ts'
import { joinedWords } from './joined-words.ts'

export type ReadFlag = (typed: Typed) => FlagValue

/** A word of the command line with the flags that may follow it. It prints nothing and throws where commander would exit. */
export class FlagReader extends Commander {
  specs: FlagSpecs = {}
  /** What followed the word, values of flags joined where they have to be. */
  typed: readonly string[] = []

  constructor(word: string) {
    super(word)
    this.helpOption(false)
      .helpCommand(false)
      .showSuggestionAfterError(false)
      .exitOverride()
      .configureOutput(SILENT)
      .enablePositionalOptions()
  }

  override parseOptions(args: string[]): ParseOptionsResult {
    this.typed = joinedWords(args, this.specs, (word) => this.hasCommand(word))
    return super.parseOptions([...this.typed])
  }

  /** Help has a layout of its own. The build leaves out commander's. */
  override outputHelp(): void {}

  /** Takes the flags of a command; registers those that the words mention, for the others cost time and change nothing. */
  addFlags(specs: FlagSpecs, words: readonly string[], read: ReadFlag): void {
    this.specs = specs
    for (const [name, spec] of Object.entries(specs)) {
      if (!words.some((word) => mentions(word, name, spec))) continue
      this.addOption(optionOf(name, spec, read))
      if (spec.kind === 'switch') this.addOption(new FlagOption(`--no-${name}`))
    }
  }

  addArguments(args: readonly ArgumentSpec[]): void {
    for (const { name, many } of args) this.argument(`[${name}${many === true ? '...' : ''}]`)
  }

  private hasCommand(word: string): boolean {
    return this.commands.some((one) => one.name() === word || one.aliases().includes(word))
  }
}

const SILENT = { writeErr: () => undefined, outputError: () => undefined }

function mentions(word: string, name: string, { short }: FlagSpec): boolean {
  if (!word.startsWith('-')) return false
  return (
    word.startsWith(`--${name}`) || word.startsWith(`--no-${name}`) || (short !== undefined && word.includes(short))
  )
}

/** An option whose value is kept under the flag's own name. */
class FlagOption extends Option {
  override attributeName(): string {
    return this.negate ? this.name().slice('no-'.length) : this.name()
  }
}

function optionOf(name: string, spec: FlagSpec, read: ReadFlag): Option {
  const short = spec.short === undefined ? '' : `-${spec.short}, `
  const option = new FlagOption(`${short}--${name}${spec.kind === 'switch' ? '' : ' <value>'}`)
  // commander takes the name of a flag such as --no-input for a negation.
  option.negate = false
  if (spec.kind === 'switch') return option
  return option.argParser((text: string, before: FlagValue | undefined) => read({ name, spec, text, before }))
}
