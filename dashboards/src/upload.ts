// A file in the parts that calls bring: pure.

/** What of a file a call brings: its text in base64 stays below the 64 KiB that a call may have. */
export const kPartBytes = 45_000;

export interface Part { offset: number; bytes: number; data: string; last: boolean }

// A part at a time, as a file may have hundreds of megabytes.
export function* partsOf(bytes: Uint8Array): Generator<Part> {
  for (let offset = 0; offset === 0 || offset < bytes.length; offset += kPartBytes) {
    const part = bytes.subarray(offset, offset + kPartBytes);
    let text = "";
    for (let i = 0; i < part.length; i += 8192) text += String.fromCharCode(...part.subarray(i, i + 8192));
    yield { offset, bytes: part.length, data: btoa(text), last: offset + part.length >= bytes.length };
  }
}
