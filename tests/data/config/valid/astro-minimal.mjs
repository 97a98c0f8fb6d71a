// @ts-check
import { defineConfig } from 'inkan/config';

// https://inkan.example/reference
export default defineConfig({
  title: 'Decisions',
  url: 'https://decisions.example.com',
  contentDir: './content',
});
