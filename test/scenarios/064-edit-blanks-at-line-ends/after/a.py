keep  
if x:  
    w()	
z()  
