import { defineConfig } from 'vitest/config';
import browser from '../browser/vitest.config.ts';

export default defineConfig({
  ...browser,
  cacheDir: '.build/vite-installed',
  test: { ...browser.test, include: ['test/installed/**/*.browser.test.ts'] },
});
