// Opens the names of the mesh on ctl0, then carries out the commands of its standard input, one JSON array a line, and answers
// each by one line of JSON. It is bundled and run within namespaces of its own.
import { execFile } from 'node:child_process'
import { createInterface } from 'node:readline'
import { openMeshNames } from '../../../src/cli/agent/names/mesh-names.ts'
import { runProgram } from '../../../src/cli/agent/system/run-program.ts'

const log = []
const names = await openMeshNames({
  way: process.argv[2],
  interfaceName: 'ctl0',
  run: runProgram,
  log: (line) => log.push(line),
})

/** Output and exit status of a command of the shell. */
function shell(command) {
  return new Promise((resolve) => {
    execFile('sh', ['-c', command], (error, stdout, stderr) => {
      resolve({ stdout, stderr, exitCode: error === null ? 0 : error.code })
    })
  })
}

const COMMANDS = {
  publish: (list) => names.publish(list),
  status: () => names.status(),
  log: () => log,
  remove: () => names.remove(),
  shell,
}

for await (const line of createInterface({ input: process.stdin })) {
  const [command, argument] = JSON.parse(line)
  const answer = await COMMANDS[command](argument)
  process.stdout.write(`${JSON.stringify(answer ?? null)}\n`)
}
await names.close()
