keep  
if x:  
    y()	
z()  
