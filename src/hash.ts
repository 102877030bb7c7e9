/** FNV-1a, 64 bits (RFC 9923), as hexadecimal digits: short names for texts, no proof against forgery. */
export function hashOf(text: string): string {
  let value = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text)) {
    value = ((value ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn
  }
  return value.toString(16).padStart(16, '0')
}
