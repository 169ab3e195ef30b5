// The entry point of the page in a browser: the web chat.
import { startPage } from '../page.tsx';
import { createWebHost } from './webHost.ts';

startPage(createWebHost());
