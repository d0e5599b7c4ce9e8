import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { DeviceStatus } from '../../../src/cli/agent/device/device.ts'
import { type DeviceCall, preserve } from './device-calls.ts'
import type { Box, Lab } from './lab.ts'

/** A refusal of the device, as its process reports it. */
export interface DeviceFault {
  readonly message: string
  readonly code: string
  readonly exitCode: number
  readonly hints: readonly string[]
}

type Message = { readonly answer: unknown } | { readonly fault: DeviceFault } | { readonly event: 'restarted' }

/** A process in a box that has a device open. */
export interface DeviceProcess {
  /** Rejects with an error whose `cause` is the `DeviceFault`. */
  call(call: DeviceCall): Promise<unknown>
  status(): Promise<DeviceStatus>
  /** Resolves once wireguard-go was started again. */
  restarted(): Promise<void>
  /** Kills the process, as nothing that it can prepare for. */
  kill(): Promise<void>
}

/** Starts the bundled `device-child` in a box. */
export function startDeviceProcess(lab: Lab, box: Box, bundle: string): DeviceProcess {
  const child = lab.spawn(box, [process.execPath, bundle], { stdio: ['pipe', 'pipe', 'inherit'] })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('The process has no pipes.')
  const answers: ((message: Message) => void)[] = []
  const restarted = once(child, 'restarted')
  createInterface({ input: stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message
    if ('event' in message) child.emit('restarted')
    else answers.shift()?.(message)
  })
  const call = async (request: DeviceCall) => {
    const answer = new Promise<Message>((resolve) => answers.push(resolve))
    stdin.write(`${JSON.stringify(request, preserve)}\n`)
    const message = await answer
    if ('fault' in message) throw new Error(message.fault.message, { cause: message.fault })
    return 'answer' in message ? message.answer : undefined
  }
  return {
    call,
    status: async () => (await call({ method: 'status' })) as DeviceStatus,
    restarted: async () => void (await restarted),
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
