import{defineConfig as e}from"inkan";const t="docs",n=[{dir:"../a"}];export default e({contentDir:t,sources:n,title:"x",f:e=>e/2,g:!0,h:!1,i:void 0});
