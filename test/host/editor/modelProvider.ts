// Installs the test extension that provides a chat model through VS Code's own API.
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export async function installModelProvider(extensions: string): Promise<void> {
  const source = fileURLToPath(new URL('modelProvider', import.meta.url));
  await cp(source, join(extensions, 'earshot-test.tea-model-1.0.0'), { recursive: true });
}
