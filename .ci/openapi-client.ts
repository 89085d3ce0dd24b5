// Uses the client that @hey-api/openapi-ts made: saves, searches, and reads an error with its hint.

import { getMemory, saveMemory, searchMemory, updateMemory } from './client/sdk.gen.ts';
import { createClient } from './client/client/index.ts';
import type { ErrorBody, Memory, SaveResult } from './client/types.gen.ts';

declare const process: { argv: string[] };

const agent = (name: string) =>
  createClient({ baseUrl: process.argv[2], headers: { 'X-Commonbook-Agent': name } });
const [bob, eve] = [agent('bob'), agent('eve')];

const text = 'The teapot of the tea shop holds four cups.';
const saved = await saveMemory({ client: bob, body: { text, importance: 'high' }, throwOnError: true });
const memory: Memory = (saved.data as SaveResult).memory;

const found = await searchMemory({ client: eve, query: { query: 'How much does the teapot hold?' }, throwOnError: true });
const hit: Memory | undefined = found.data.hits[0]?.memory;
if (hit?.id !== memory.id || !hit.workspace.startsWith('tea-shop-')) throw new Error(JSON.stringify(found.data));

const read: Memory = (await getMemory({ client: eve, path: { id: memory.id }, throwOnError: true })).data;
if (read.text !== text) throw new Error(JSON.stringify(read));

const refused = await updateMemory({ client: eve, path: { id: memory.id }, body: { text: 'It holds two.' } });
const error: ErrorBody | undefined = refused.error;
if (error?.error.code !== 'ownership_mismatch' || !error.error.hint) throw new Error(JSON.stringify(refused));
console.log(`@hey-api/openapi-ts: works; the hint of an error: ${error.error.hint}`);
