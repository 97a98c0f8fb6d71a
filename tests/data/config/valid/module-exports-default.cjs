"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.helper = helper;
exports.default = { contentDir: 'transpiled', title: 'x' };
function helper() {}
