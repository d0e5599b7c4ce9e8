import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const RECIPE = fileURLToPath(new URL('../../../examples/ci/github-actions.yaml', import.meta.url))

interface Step {
  readonly name?: string
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
}

interface Workflow {
  readonly env: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>
}

interface JobRun {
  /** That of the first step which failed; 0 where none did. */
  readonly exitCode: number
  readonly output: string
}

/** The recipe for GitHub Actions, as it is published. */
export const recipe = parse(readFileSync(RECIPE, 'utf8')) as Workflow // Its shape is what the tests use of it.

/**
 * Runs the `run:` steps of a job as a runner does: each with `bash -eo pipefail`, one after another, until one fails. The step that
 * installs the command line is left out. `env` takes the place of values of the workflow, `expressions` of `${{ … }}`.
 */
export async function runJob(
  job: string,
  { env, expressions }: Readonly<Record<'env' | 'expressions', Readonly<Record<string, string>>>>,
): Promise<JobRun> {
  const temporary = mkdtempSync(join(tmpdir(), 'ctl-runner-'))
  let output = ''
  try {
    for (const step of recipe.jobs[job]?.steps ?? []) {
      if (step.run === undefined || step.name === 'Install') continue
      const own = Object.entries(step.env ?? {}).map(([name, value]) => [name, filled(value, expressions)])
      const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', `exec 2>&1\n${step.run}`], {
        env: { ...recipe.env, RUNNER_TEMP: temporary, ...Object.fromEntries(own), ...env },
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const [said, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'exit')])
      output += said
      if (exitCode !== 0) return { exitCode: Number(exitCode), output }
    }
    return { exitCode: 0, output }
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

function filled(value: string, expressions: Readonly<Record<string, string>>): string {
  return value.replaceAll(/\$\{\{ (.*?) \}\}/g, (_whole, expression: string) => {
    const known = expressions[expression]
    if (known === undefined) throw new Error(`the runner of the test has no ${expression}`)
    return known
  })
}
