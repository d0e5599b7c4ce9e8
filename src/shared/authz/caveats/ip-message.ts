import { create, createFileRegistry, type DescMessage, type Message } from '@bufbuild/protobuf'
import type { ReflectMessage } from '@bufbuild/protobuf/reflect'
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'
import { ipAddressKey, ipAddressOfKey, parseIpAddress, type IpAddress } from './ip-address.ts'

const TYPE_NAME = 'IPAddress'

/** Values beyond the built-in ones are messages in CEL: this one holds the key of an address, so that equal ones are equal. */
const FILE = create(FileDescriptorProtoSchema, {
  name: 'ip-address.proto',
  syntax: 'proto3',
  messageType: [
    {
      name: TYPE_NAME,
      field: [
        {
          name: 'key',
          jsonName: 'key',
          number: 1,
          label: FieldDescriptorProto_Label.OPTIONAL,
          type: FieldDescriptorProto_Type.STRING,
        },
      ],
    },
  ],
})

/** Knows the message of addresses. */
export const IP_REGISTRY = createFileRegistry(FILE, () => undefined)

/** The message of addresses. */
export const IP_MESSAGE: DescMessage = declared()

function declared(): DescMessage {
  const desc = IP_REGISTRY.getMessage(TYPE_NAME)
  if (desc === undefined) throw new Error('the message of addresses is not declared')
  return desc
}

/** An address as expressions hold it. Undefined when the text is none. */
export function ipAddressMessage(text: string): Message | undefined {
  const address = parseIpAddress(text)
  return address === undefined ? undefined : create(IP_MESSAGE, { key: ipAddressKey(address) })
}

export function ipAddressOf(message: ReflectMessage): IpAddress {
  const [key] = message.fields
  const text: unknown = key === undefined ? '' : message.get(key)
  return ipAddressOfKey(typeof text === 'string' ? text : '')
}
