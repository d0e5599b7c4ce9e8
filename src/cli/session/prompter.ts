import type { Prompter } from '../output/io.ts'

/** Asks on the terminal with @inquirer/prompts; what is asked goes to `output`, so that stdout stays data. */
export async function createPrompter(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Promise<Prompter> {
  const prompts = await import('@inquirer/prompts')
  const context = { input, output, clearPromptOnDone: false }
  return {
    confirm: (message) => unlessLeft(prompts.confirm({ message, default: false }, context)),
    input: (message) => unlessLeft(prompts.input({ message, required: true }, context)),
    secret: (message) => unlessLeft(prompts.password({ message }, context)),
    choose: (message, choices) => unlessLeft(prompts.select({ message, choices: [...choices] }, context)),
  }
}

async function unlessLeft<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Error && /ExitPromptError|AbortPromptError/.test(error.name)) return undefined
    throw error
  }
}
