import type { Slice } from '../../http/slice.ts'
import type { Clock } from '../../ports/clock.ts'
import type { MintGrantedToken } from '../../ports/token-minting.ts'
import { createDeviceSweeper } from './device-sweeper.ts'
import { createDevicePages, type DevicePagesDeps } from './pages.ts'
import { createDeviceFlow, type DeviceFlowDeps } from './service.ts'
import { createWrongCodes } from './wrong-codes.ts'

export { contents } from './contents.ts'

export interface DeviceFlowPorts extends Omit<DeviceFlowDeps & DevicePagesDeps, 'wrongCodes' | 'mintToken'> {
  readonly clock: Clock
  readonly mintGranted: MintGrantedToken
}

/** Signing in from a box without a browser (RFC 8628). */
export function createSlice({ clock, mintGranted, ...ports }: DeviceFlowPorts): Slice<'deviceFlow'> {
  const deps = { ...ports, mintToken: mintGranted, wrongCodes: createWrongCodes() }
  return {
    handlers: { deviceFlow: createDeviceFlow(deps) },
    pages: createDevicePages(deps),
    jobs: [createDeviceSweeper({ clock })],
  }
}
